import type Anthropic from "@anthropic-ai/sdk";

import type { ToolCall, ToolDefinition } from "../../domain/turns/model.ts";
import { inputForVendor } from "../wire/call-input.ts";
import { givesThoughts, learn } from "../wire/dialects.ts";
import type { Adapted, Lesson } from "../wire/dialects.ts";
import { inOrder } from "../wire/ordered-content.ts";
import { ProviderError } from "../provider.ts";
import type { ProviderRequest } from "../provider.ts";
import { textOrNothing, toBase64, toWireMessages, wellFormedJson } from "../wire/wire.ts";
import type { WireMessage, WirePart, WireResult } from "../wire/wire.ts";
import { readContent } from "./thoughts.ts";
import type { ContentItem } from "./thoughts.ts";

type MessageParam = { role: "user" | "assistant"; content: Block[] };
type ContentBlock = Anthropic.TextBlockParam | Anthropic.ImageBlockParam;
type Thought = Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam;
type Block = ContentBlock | Anthropic.ToolUseBlockParam | Anthropic.ToolResultBlockParam | Thought;

const cacheMark = { type: "ephemeral" } as const;

/** Differences between models, learned from refusals: see `adapt`. */
export interface AnthropicDialect {
  /** Older models take a number of tokens, newer ones decide themselves by an effort. */
  readonly thinking: "adaptive" | "budget" | "none";
  /** Some always think, and refuse to be told not to. */
  readonly off: boolean;
  readonly temperature: boolean;
  /** Returns the model's reasoning to it; without, it continues from its answers. */
  readonly thoughts: boolean;
}

export const firstDialect: AnthropicDialect = { thinking: "adaptive", off: true, temperature: true, thoughts: true };

const aboutThinking = /thinking|adaptive|effort|output_config|budget_tokens/i;

const lessons: readonly Lesson<AnthropicDialect>[] = [
  // Signatures are of one account's models: after a change of the key, or of what a server stands in for, they are
  // worth nothing.
  {
    says: /signature|redacted_thinking|cannot be modified/i,
    change: { thoughts: false },
    isForOnce: true,
    applies: givesThoughts,
  },
  // It goes on with what another model has begun: only this request has no thought in the place where it wants one.
  { says: /expected .?(thinking|redacted)/i, change: { thinking: "none" }, isForOnce: true, applies: wantsThinking },
  { says: aboutThinking, change: { off: false }, applies: ({ thinking }) => thinking === "off" },
  {
    says: aboutThinking,
    change: { thinking: "budget" },
    applies: (request, { thinking }) => wantsThinking(request) && thinking === "adaptive",
  },
  { says: aboutThinking, change: { thinking: "none" }, applies: wantsThinking },
  { says: /temperature/, change: { temperature: false }, applies: ({ temperature }) => temperature !== undefined },
];

function wantsThinking({ thinking }: ProviderRequest): boolean {
  return thinking !== undefined && thinking !== "off";
}

/** Returns the change for a request refused with this text; `undefined` when nothing helps. */
export function adapt(
  dialect: AnthropicDialect,
  refusal: string,
  request: ProviderRequest,
): Adapted<AnthropicDialect> | undefined {
  return learn(lessons, { dialect, refusal, request });
}

const leastBudget = 1_024;
/** Share of the answer's tokens. */
const budgetShare = { low: 0.1, medium: 0.3, high: 0.6 } as const;

/** `temperature` goes with no thinking (https://platform.claude.com/docs/en/build-with-claude/extended-thinking). */
function thinkingOf(
  { thinking, temperature, maxOutputTokens }: ProviderRequest,
  { dialect, messages }: { readonly dialect: AnthropicDialect; readonly messages: readonly MessageParam[] },
): Pick<Anthropic.MessageCreateParamsStreaming, "thinking" | "output_config"> & { readonly temperature?: number } {
  const warmth = temperature !== undefined && dialect.temperature ? { temperature: Math.min(1, temperature) } : {};
  if (thinking === "off") return { ...warmth, ...(dialect.off && { thinking: { type: "disabled" } as const }) };
  if (thinking === undefined || dialect.thinking === "none") return warmth;
  if (dialect.thinking === "adaptive") return { thinking: { type: "adaptive" }, output_config: { effort: thinking } };
  const budget_tokens = Math.floor(maxOutputTokens * budgetShare[thinking]);
  if (budget_tokens < leastBudget || !beginsWithThought(messages)) return warmth;
  return { thinking: { type: "enabled", budget_tokens } };
}

/**
 * Models with a budget refuse to think in the middle of calls of tools that they did not think about from the
 * beginning: those of another model, or of one whose thoughts are gone.
 */
function beginsWithThought(messages: readonly MessageParam[]): boolean {
  const spoken = messages.findLastIndex(
    ({ role, content }) => role === "user" && !content.some(({ type }) => type === "tool_result"),
  );
  const first = messages.slice(spoken + 1).find(({ role }) => role === "assistant")?.content[0];
  return first === undefined || first.type === "thinking" || first.type === "redacted_thinking";
}

/**
 * The Messages request. Only what we put here is sent: no server-side tools, no remote MCP servers, no URLs to fetch.
 * Cache marks, at most four as the vendor takes them
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching), are behind the tools, behind the first
 * system section, which every conversation of the group shares, and at the ends of the last two messages that are not
 * the model's: the earlier one is where the last request ended, however many blocks came since.
 *
 * Blocks of thinking go back where they stood in their answers, byte for byte. An answer of another model has none,
 * which is allowed.
 */
export function toAnthropicRequest(
  request: ProviderRequest,
  dialect: AnthropicDialect = firstDialect,
): Anthropic.MessageCreateParamsStreaming {
  const messages = toMessages(request, dialect);
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
    ...thinkingOf(request, { dialect, messages }),
    ...(request.tools.length > 0 ? { tools: toTools(request.tools) } : {}),
  };
}

function toMessages(request: ProviderRequest, { thoughts }: AnthropicDialect): MessageParam[] {
  const messages: MessageParam[] = [];
  for (const message of toWireMessages(request)) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const last = messages.at(-1);
    const blocks = toBlocks(message.role === "assistant" && !thoughts ? { ...message, thoughts: [] } : message);
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: blocks });
  }
  if (messages.length === 0) throw new ProviderError("invalid", "There is no message to send to the model.");
  for (const { content } of messages.filter(({ role }) => role === "user").slice(-2)) markEnd(content);
  return messages;
}

function markEnd(content: readonly Block[]): void {
  const last = content.at(-1);
  if (last && last.type !== "thinking" && last.type !== "redacted_thinking") last.cache_control = cacheMark;
}

function toBlocks(message: WireMessage): Block[] {
  if (message.role === "user") return message.parts.map(toContent);
  if (message.role === "tool") return message.results.map(toResult);
  return toContentOf(message) ?? [...toText(message.text ?? ""), ...message.toolCalls.map(toCall)];
}

/** Original content with reasoning; undefined when there is none, or when it does not match the answer. */
function toContentOf(message: Extract<WireMessage, { role: "assistant" }>): Block[] | undefined {
  const items = message.thoughts.length === 0 ? undefined : readContent(message.thoughts);
  return (
    items &&
    inOrder<ContentItem, Block>(message, items, {
      place: (item) => (item.type === "text" ? item : item.type === "tool_use" ? "call" : "thought"),
      text: toText,
      call: toCall,
      thought: (item) => item as Thought,
    })
  );
}

function toText(text: string): Block[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
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
  return JSON.parse(wellFormedJson(inputForVendor(input)));
}

function toTools(tools: readonly ToolDefinition[]): Anthropic.Tool[] {
  const last = tools.length - 1;
  return tools.map((tool, index) => ({ ...toTool(tool), ...(index === last && { cache_control: cacheMark }) }));
}

function toTool(tool: ToolDefinition): Anthropic.Tool {
  return { name: tool.name, description: tool.description, input_schema: { ...tool.inputSchema, type: "object" } };
}
