import type { ModelAnswer, ModelMessage, ToolDefinition, ToolResult } from "../../domain/turns/model.ts";
import type { Part } from "../../domain/chats/part.ts";
import { describePart, partsOf } from "../../domain/chats/part.ts";
import type { StepBody } from "../../domain/turns/turn.ts";
import { estimateTextTokens } from "../../lib/text/text-tokens.ts";

/** Tokens that vendors add around each message or block. */
const frameTokens = 8;
/** Tokens that vendors add when there are tools. */
const toolUseTokens = 500;
/**
 * Tokens of an image. Anthropic: width × height / 750, larger ones scaled down to 1,600
 * (https://platform.claude.com/docs/en/build-with-claude/vision); only its newest models use up to 4,784. OpenAI: at
 * most 1,536 (https://platform.openai.com/docs/guides/images-vision). Images are not decoded here, so each counts as a
 * large one.
 */
const imageTokens = 1_600;

/** Estimates, on the high side, what a step adds to the prompt. */
export function estimateStepTokens(body: StepBody): number {
  switch (body.kind) {
    case "user":
      return frameTokens + sum(partsOf(body), estimatePart);
    case "model":
      return estimateAnswer(body.answer) + sum(body.denied, estimateResult);
    case "tools":
      return frameTokens + sum(body.results, estimateResult);
    default:
      return body satisfies never;
  }
}

/** Estimates a whole prompt, on the high side. */
export function estimatePromptTokens(prompt: {
  readonly system: readonly string[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
}): number {
  const tools = prompt.tools.length === 0 ? 0 : toolUseTokens + sum(prompt.tools, estimateTool);
  return (
    sum(prompt.system, (section) => frameTokens + estimateTextTokens(section)) +
    sum(prompt.messages, estimateMessage) +
    tools
  );
}

/** Definitions are made once and are part of every prompt. */
const tokensOfTools = new WeakMap<ToolDefinition, number>();

function estimateTool(tool: ToolDefinition): number {
  const known = tokensOfTools.get(tool);
  if (known !== undefined) return known;
  const { name, description, inputSchema } = tool;
  const tokens = estimateJson({ name, description, inputSchema });
  tokensOfTools.set(tool, tokens);
  return tokens;
}

function estimateMessage(message: ModelMessage): number {
  if (message.role === "user") return frameTokens + sum(partsOf(message), estimatePart);
  if (message.role === "tool") return estimateStepTokens({ kind: "tools", results: message.results });
  return estimateAnswer({ ...message, thoughts: message.thoughts?.items });
}

function estimateAnswer({
  text,
  toolCalls,
  thoughts = [],
}: Pick<ModelAnswer, "text" | "toolCalls" | "thoughts">): number {
  const calls = sum(toolCalls, (call) => frameTokens + estimateTextTokens(call.name) + estimateJson(call.input));
  return frameTokens + estimateTextTokens(text) + calls + sum(thoughts, estimateJson);
}

function estimateResult(result: ToolResult): number {
  return frameTokens + sum(partsOf(result), estimatePart);
}

/** Estimates a part; other than images are described in words. */
function estimatePart(part: Part): number {
  return part.kind === "image" ? imageTokens : estimateTextTokens(describePart(part));
}

function estimateJson(value: unknown): number {
  // In a list, because JSON has no `undefined`, which a model's input may be.
  return estimateTextTokens(JSON.stringify([value]));
}

function sum<Item>(items: readonly Item[], tokensOf: (item: Item) => number): number {
  return items.reduce((total, item) => total + tokensOf(item), 0);
}
