import type OpenAI from "openai";

import type { ToolCall } from "../../domain/turns/model.ts";
import { ProviderError } from "../provider.ts";
import type { ProviderRequest } from "../provider.ts";
import { inputForVendor } from "../wire/call-input.ts";
import { textOrNothing, toBase64, toWireMessages, wellFormedJson } from "../wire/wire.ts";
import type { WireMessage, WirePart, WireResult } from "../wire/wire.ts";
import type { OpenAiDialect } from "./dialect.ts";
import { effortStyles } from "./effort.ts";
import { readThoughts } from "./thoughts.ts";
import type { Thought } from "./thoughts.ts";

type Message = OpenAI.ChatCompletionMessageParam;

/** Placeholder for reasoning that is missing: from another model, or erased. */
const noThoughts = "(no thoughts are kept of this step)";

/**
 * Signature that Gemini accepts for another model's calls (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
const noSignature = { google: { thought_signature: "skip_thought_signature_validator" } };

/** The model's filler between a tool and people, for servers that require one. */
const resultsRead = "I have the results.";

/** The Chat Completions request. Only what we put here is sent: no web search, no remote MCP servers, no storing. */
export function toOpenAiRequest(
  request: ProviderRequest,
  dialect: OpenAiDialect,
): OpenAI.ChatCompletionCreateParamsStreaming {
  const messages = toMessages(request, dialect);
  return {
    model: request.model,
    stream: true,
    messages,
    [dialect.outputLimit]: request.maxOutputTokens,
    ...(dialect.usageInStream ? { stream_options: { include_usage: true } } : {}),
    ...effortFields(request, dialect),
    ...(request.temperature !== undefined && dialect.temperature ? { temperature: request.temperature } : {}),
    ...(request.tools.length > 0
      ? {
          tools: request.tools.map((tool) => ({
            type: "function" as const,
            function: { name: tool.name, description: tool.description, parameters: { ...tool.inputSchema } },
          })),
        }
      : {}),
  };
}

function toMessages(request: ProviderRequest, dialect: OpenAiDialect): Message[] {
  const shown = withShownImages(toWireMessages(request, { callIds: dialect.callIds }));
  const all = shown.flatMap((message) => toMessage(message, dialect));
  const conversation = dialect.answersTools ? all.flatMap(withAnswer) : all;
  if (conversation.length === 0) throw new ProviderError("invalid", "There is no message to send to the model.");
  const system = request.system.map(textOrNothing).filter((text) => text !== undefined);
  // One system message: the chat templates of several open models take no second one.
  return system.length === 0 ? conversation : [{ role: "system", content: system.join("\n\n") }, ...conversation];
}

function withAnswer(message: Message, index: number, all: readonly Message[]): Message[] {
  const isAfterTool = message.role === "user" && all[index - 1]?.role === "tool";
  return isAfterTool ? [{ role: "assistant", content: resultsRead }, message] : [message];
}

function toMessage(message: WireMessage, dialect: OpenAiDialect): Message[] {
  if (message.role === "user") return [{ role: "user", content: toContent(message.parts) }];
  if (message.role === "tool") return message.results.map(toResult);
  const thoughts = dialect.thoughts ? readThoughts(message.thoughts) : [];
  const calls = message.toolCalls.map((call, index) => ({
    ...toCall(call),
    ...signatureOf(thoughts, index),
    ...(index === 0 && dialect.wantsSignatures && !thoughts.some(isSignature) && { extra_content: noSignature }),
  }));
  const toolCalls = calls.length > 0 ? { tool_calls: calls } : {};
  const fields = fieldsOf(thoughts);
  const standIn = dialect.wantsThoughts && !("reasoning_content" in fields) ? { reasoning_content: noThoughts } : {};
  return [{ role: "assistant", content: contentOf(message.text, thoughts), ...fields, ...standIn, ...toolCalls }];
}

/** Content with reasoning inline, followed by the answer. */
function contentOf(text: string | undefined, thoughts: readonly Thought[]): string | null {
  const chunks = thoughts.flatMap((thought) => (thought.field === "content" ? thought.chunks : []));
  if (chunks.length === 0) return text ?? null;
  const content = [...chunks, ...(text === undefined ? [] : [{ type: "text", text }])];
  // The SDK knows no thoughts there; the servers that send them do.
  return content as unknown as string;
}

function effortFields(
  { thinking, model }: ProviderRequest,
  { effort, effortNone, isThoughtless }: OpenAiDialect,
): object {
  if (effort === undefined) return {};
  if (effortNone) return { reasoning_effort: "none" };
  if (isThoughtless) return effortStyles[effort]("off", model);
  return thinking === undefined ? {} : effortStyles[effort](thinking, model);
}

function fieldsOf(thoughts: readonly Thought[]): object {
  const fields = thoughts.flatMap((thought): [string, unknown][] => {
    if (thought.field === "extra_content" || thought.field === "content") return [];
    return [[thought.field, thought.field === "reasoning_details" ? thought.details : thought.text]];
  });
  return Object.fromEntries(fields);
}

function signatureOf(thoughts: readonly Thought[], call: number): object {
  const found = thoughts.find((thought) => isSignature(thought) && thought.call === call);
  return found?.field === "extra_content" ? { extra_content: found.content } : {};
}

function isSignature(thought: Thought): thought is Extract<Thought, { field: "extra_content" }> {
  return thought.field === "extra_content";
}

function toCall(call: ToolCall): OpenAI.ChatCompletionMessageFunctionToolCall {
  return {
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: wellFormedJson(inputForVendor(call.input)) },
  };
}

/** Without images it is one text, which every server of this format takes. */
function toContent(parts: readonly WirePart[]): string | OpenAI.ChatCompletionContentPart[] {
  const texts = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  if (texts.length === parts.length) return texts.join("\n\n");
  return parts.map((part) =>
    part.kind === "text"
      ? { type: "text", text: part.text }
      : { type: "image_url", image_url: { url: `data:${part.mimeType};base64,${toBase64(part.data)}` } },
  );
}

function toResult({ callId, parts, isError }: WireResult): OpenAI.ChatCompletionToolMessageParam {
  const texts = parts.map((part) => (part.kind === "text" ? part.text : imageBelow));
  const output = texts.join("\n");
  return { role: "tool", tool_call_id: callId, content: isError ? `Error: ${output}` : output };
}

const imageBelow = "[an image, shown below]";

/**
 * Puts the images of tool results into a user's message behind the results: a tool's message holds text only
 * (`ChatCompletionToolMessageParam.content` in the SDK is a string or parts of text;
 * https://platform.openai.com/docs/api-reference/chat/create). What a user said then is of the same message.
 */
function withShownImages(messages: readonly WireMessage[]): WireMessage[] {
  const merged: WireMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (message.role === "user" && last?.role === "user")
      merged[merged.length - 1] = { role: "user", parts: [...last.parts, ...message.parts] };
    else merged.push(message);
    const parts = message.role === "tool" ? message.results.flatMap(toShown) : [];
    if (parts.length > 0) merged.push({ role: "user", parts });
  }
  return merged;
}

function toShown({ callId, parts }: WireResult): WirePart[] {
  const images = parts.filter(({ kind }) => kind === "image");
  return images.length === 0 ? [] : [{ kind: "text", text: `[from the result of the call ${callId}]` }, ...images];
}
