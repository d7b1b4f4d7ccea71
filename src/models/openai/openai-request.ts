import type OpenAI from "openai";

import type { ToolCall } from "../../domain/model.ts";
import { ProviderError } from "../provider.ts";
import type { ProviderRequest } from "../provider.ts";
import { textOrNothing, toBase64, toWireMessages, wellFormedJson } from "../wire.ts";
import type { WireMessage, WirePart, WireResult } from "../wire.ts";

type Message = OpenAI.ChatCompletionMessageParam;

/** Where servers of this format differ. Found out by being refused, see `adapt`. */
export interface Dialect {
  /** Some servers refuse `stream_options`; then the usage is estimated. */
  readonly usageInStream: boolean;
  readonly outputLimit: "max_completion_tokens" | "max_tokens";
  /** OpenAI's models from GPT-5.2 on take tools here only with this, even where no effort was asked for. */
  readonly effortNone: boolean;
  /** The field that names the limit is swapped at most once. */
  readonly isLimitSwapped: boolean;
}

/** OpenAI itself wants the newer name of the output limit, most other servers know only the older one. */
export function firstDialect(isOpenAi: boolean): Dialect {
  return {
    usageInStream: true,
    outputLimit: isOpenAi ? "max_completion_tokens" : "max_tokens",
    effortNone: false,
    isLimitSwapped: false,
  };
}

/** The dialect to try next after a request was refused with this text; `undefined` when that is no help. Ends after three. */
export function adapt(dialect: Dialect, refusalText: string): Dialect | undefined {
  if (dialect.usageInStream && refusalText.includes("stream_options")) return { ...dialect, usageInStream: false };
  if (!dialect.effortNone && refusalText.includes("reasoning_effort")) return { ...dialect, effortNone: true };
  if (dialect.isLimitSwapped || !/max_(completion_)?tokens/.test(refusalText)) return undefined;
  // Both names occur in OpenAI's refusal; only the one that was sent says that it is about the name and not about the number.
  const isAboutName = /unsupported|not supported|unrecognized|unknown|extra|not permitted|instead/i.test(refusalText);
  if (!isAboutName) return undefined;
  const outputLimit = dialect.outputLimit === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  return { ...dialect, outputLimit, isLimitSwapped: true };
}

/** The Chat Completions request. Only what we put here is sent: no web search, no remote MCP servers, no storing. */
export function toOpenAiRequest(
  request: ProviderRequest,
  dialect: Dialect,
): OpenAI.ChatCompletionCreateParamsStreaming {
  const messages = toMessages(request);
  return {
    model: request.model,
    stream: true,
    messages,
    [dialect.outputLimit]: request.maxOutputTokens,
    ...(dialect.usageInStream ? { stream_options: { include_usage: true } } : {}),
    ...(dialect.effortNone ? { reasoning_effort: "none" as const } : {}),
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

function toMessages(request: ProviderRequest): Message[] {
  const conversation = withShownImages(toWireMessages(request)).flatMap(toMessage);
  if (conversation.length === 0) throw new ProviderError("invalid", "There is no message to send to the model.");
  const system = request.system.map(textOrNothing).filter((text) => text !== undefined);
  // One system message: the chat templates of several open models take no second one.
  return system.length === 0 ? conversation : [{ role: "system", content: system.join("\n\n") }, ...conversation];
}

function toMessage(message: WireMessage): Message[] {
  if (message.role === "user") return [{ role: "user", content: toContent(message.parts) }];
  if (message.role === "tool") return message.results.map(toResult);
  const calls = message.toolCalls.length > 0 ? { tool_calls: message.toolCalls.map(toCall) } : {};
  return [{ role: "assistant", content: message.text ?? null, ...calls }];
}

function toCall(call: ToolCall): OpenAI.ChatCompletionMessageFunctionToolCall {
  return {
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: wellFormedJson(call.input ?? {}) },
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
