import type OpenAI from "openai";

import type { ToolCall, ToolDefinition } from "../../domain/turns/model.ts";
import { inputForVendor } from "../wire/call-input.ts";
import { givesThoughts, learn } from "../wire/dialects.ts";
import type { Adapted, Lesson } from "../wire/dialects.ts";
import { inOrder } from "../wire/ordered-content.ts";
import { ProviderError } from "../provider.ts";
import type { ProviderRequest } from "../provider.ts";
import { textOrNothing, toBase64, toWireMessages, wellFormedJson } from "../wire/wire.ts";
import type { WireMessage, WirePart, WireResult } from "../wire/wire.ts";
import { readItems } from "./reasoning-items.ts";
import type { OutputItem } from "./reasoning-items.ts";

type Body = OpenAI.Responses.ResponseCreateParamsStreaming;
type Item = OpenAI.Responses.ResponseInputItem;
type Content = OpenAI.Responses.ResponseInputText | OpenAI.Responses.ResponseInputImage;

/** Differences between models, learned from refusals: see `adapt`. */
export interface ResponsesDialect {
  /** Requests encrypted reasoning: nothing is stored at the vendor. Some models have none. */
  readonly encrypted: boolean;
  /** Returns reasoning to the model; without, it continues from its answers. */
  readonly thoughts: boolean;
  readonly effort: boolean;
  readonly temperature: boolean;
}

export const firstResponsesDialect: ResponsesDialect = {
  encrypted: true,
  thoughts: true,
  effort: true,
  temperature: true,
};

const lessons: readonly Lesson<ResponsesDialect>[] = [
  {
    says: /^(?=.*(?:not supported|unsupported|unknown))(?=.*(?:encrypted.?content|include))/is,
    change: { encrypted: false },
  },
  // What was encrypted for another account, or items that a server takes for incomplete.
  {
    says: /encrypted.?content|reasoning|item .{0,200} not found/is,
    unless: /effort|reasoning\.summary/i,
    change: { thoughts: false },
    isForOnce: true,
    applies: givesThoughts,
  },
  { says: /temperature/, change: { temperature: false }, applies: ({ temperature }) => temperature !== undefined },
  { says: /reasoning|effort/, change: { effort: false }, applies: ({ thinking }) => thinking !== undefined },
];

/** Returns the change for a request refused with this text; `undefined` when nothing helps. */
export function adaptResponses(
  dialect: ResponsesDialect,
  refusal: string,
  request: ProviderRequest,
): Adapted<ResponsesDialect> | undefined {
  return learn(lessons, { dialect, refusal, request });
}

/**
 * The Responses request. Only what we put here is sent: nothing is stored there, and no tools of the vendor's are used.
 * Items of reasoning go back where they stood in their answers, byte for byte
 * (https://developers.openai.com/api/docs/guides/reasoning#encrypted-reasoning-items).
 */
export function toResponsesRequest(request: ProviderRequest, dialect: ResponsesDialect): Body {
  const { model, thinking, temperature, maxOutputTokens, tools } = request;
  const input = toWireMessages(request).flatMap((message) => toItems(message, dialect));
  if (input.length === 0) throw new ProviderError("invalid", "There is no message to send to the model.");
  const instructions = request.system.map(textOrNothing).filter((text) => text !== undefined);
  return {
    model,
    stream: true,
    store: false,
    ...(dialect.encrypted && { include: ["reasoning.encrypted_content" as const] }),
    max_output_tokens: maxOutputTokens,
    ...(instructions.length > 0 && { instructions: instructions.join("\n\n") }),
    input,
    ...(thinking !== undefined &&
      dialect.effort && { reasoning: { effort: thinking === "off" ? ("none" as const) : thinking } }),
    ...(temperature !== undefined && dialect.temperature && { temperature }),
    ...(tools.length > 0 && { tools: tools.map(toTool) }),
  };
}

function toItems(message: WireMessage, { thoughts }: ResponsesDialect): Item[] {
  if (message.role === "user") return [{ type: "message", role: "user", content: message.parts.map(toContent) }];
  if (message.role === "tool") return message.results.map(toOutput);
  const items = thoughts ? readItems(message.thoughts) : undefined;
  const ordered =
    items &&
    inOrder<OutputItem, Item>(message, items, {
      place: (item) => (item.type === "message" ? item : item.type === "function_call" ? "call" : "thought"),
      text: (text, item) => toMessage(text, item.type === "message" ? item.phase : undefined),
      call: toCall,
      thought: (item) => (item as Extract<OutputItem, { type: "reasoning" }>).item as unknown as Item,
    });
  return ordered ?? [...toMessage(message.text ?? ""), ...message.toolCalls.map(toCall)];
}

function toMessage(text: string, phase?: string): Item[] {
  if (text.trim() === "") return [];
  return [{ type: "message", role: "assistant", content: text, ...(phase !== undefined && { phase: phase as Phase }) }];
}

type Phase = NonNullable<OpenAI.Responses.EasyInputMessage["phase"]>;

function toCall({ id, name, input }: ToolCall): Item {
  return { type: "function_call", call_id: id, name, arguments: wellFormedJson(inputForVendor(input)) };
}

function toOutput({ callId, parts, isError }: WireResult): Item {
  const type = "function_call_output" as const;
  const texts = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  const failed = isError ? "Error: " : "";
  if (texts.length === parts.length) return { type, call_id: callId, output: failed + texts.join("\n") };
  const mark: Content[] = isError ? [{ type: "input_text", text: "Error:" }] : [];
  return { type, call_id: callId, output: [...mark, ...parts.map(toContent)] };
}

function toContent(part: WirePart): Content {
  if (part.kind === "text") return { type: "input_text", text: part.text };
  return { type: "input_image", detail: "auto", image_url: `data:${part.mimeType};base64,${toBase64(part.data)}` };
}

/** Not strict: that would make every property of a tool required. */
function toTool({ name, description, inputSchema }: ToolDefinition): OpenAI.Responses.FunctionTool {
  return { type: "function", name, description, parameters: { ...inputSchema }, strict: false };
}
