import type Anthropic from "@anthropic-ai/sdk";

import type { ToolCall, ToolDefinition } from "../../domain/model.ts";
import { ProviderError } from "../provider.ts";
import type { ProviderRequest } from "../provider.ts";
import { textOrNothing, toBase64, toWireMessages, wellFormedJson } from "../wire.ts";
import type { WireMessage, WirePart, WireResult } from "../wire.ts";

type MessageParam = { role: "user" | "assistant"; content: Block[] };
type ContentBlock = Anthropic.TextBlockParam | Anthropic.ImageBlockParam;
type Block = ContentBlock | Anthropic.ToolUseBlockParam | Anthropic.ToolResultBlockParam;

const cacheMark = { type: "ephemeral" } as const;

/**
 * The Messages request. Only what we put here is sent: no server-side tools, no remote MCP servers, no URLs to fetch. Cache
 * marks stand behind the first system section, which every conversation of the group shares, and on the last block.
 *
 * Thinking blocks are never sent back, because the conversation is also shown to other vendors' models: with adaptive
 * thinking, which current models use, leaving all of them out is allowed (leaving out some is not).
 */
export function toAnthropicRequest(request: ProviderRequest): Anthropic.MessageCreateParamsStreaming {
  const messages = toMessages(request);
  const system = request.system
    .map(textOrNothing)
    .filter((text) => text !== undefined)
    .map((text, index) => ({ type: "text" as const, text, ...(index === 0 ? { cache_control: cacheMark } : {}) }));
  return {
    model: request.model,
    max_tokens: request.maxOutputTokens,
    stream: true,
    ...(system.length > 0 ? { system } : {}),
    messages,
    ...(request.tools.length > 0 ? { tools: request.tools.map(toTool) } : {}),
  };
}

function toMessages(request: ProviderRequest): MessageParam[] {
  const messages: MessageParam[] = [];
  for (const message of toWireMessages(request)) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...toBlocks(message));
    else messages.push({ role, content: toBlocks(message) });
  }
  const lastBlock = messages.at(-1)?.content.at(-1);
  if (lastBlock === undefined) throw new ProviderError("invalid", "There is no message to send to the model.");
  lastBlock.cache_control = cacheMark;
  return messages;
}

function toBlocks(message: WireMessage): Block[] {
  if (message.role === "user") return message.parts.map(toContent);
  if (message.role === "tool") return message.results.map(toResult);
  const text: Block[] = message.text === undefined ? [] : [{ type: "text", text: message.text }];
  return [...text, ...message.toolCalls.map(toCall)];
}

function toCall(call: ToolCall): Anthropic.ToolUseBlockParam {
  return { type: "tool_use", id: call.id, name: call.name, input: toInput(call.input) };
}

function toResult({ callId, parts, isError }: WireResult): Anthropic.ToolResultBlockParam {
  const [first] = parts;
  const content = parts.length === 1 && first?.kind === "text" ? first.text : parts.map(toContent);
  return { type: "tool_result", tool_use_id: callId, content, ...(isError ? { is_error: true } : {}) };
}

function toContent(part: WirePart): ContentBlock {
  if (part.kind === "text") return { type: "text", text: part.text };
  const media_type = part.mimeType as Anthropic.Base64ImageSource["media_type"];
  return { type: "image", source: { type: "base64", media_type, data: toBase64(part.data) } };
}

function toInput(input: unknown): unknown {
  return JSON.parse(wellFormedJson(input ?? {}));
}

function toTool(tool: ToolDefinition): Anthropic.Tool {
  return { name: tool.name, description: tool.description, input_schema: { ...tool.inputSchema, type: "object" } };
}
