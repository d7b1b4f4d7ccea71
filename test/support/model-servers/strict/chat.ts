import {
  demand,
  demandDataUrl,
  demandKeys,
  demandObjectSchema,
  demandText,
  isObject,
  listOf,
  refuseBy,
} from "./refused.ts";
import type { Json, Refuse } from "./refused.ts";

/** Differences between Chat Completions servers. */
export interface ChatRules {
  /** Fields of a request besides those that all of them know. */
  readonly fields: readonly string[];
  /** Fields of an answer that is given back, besides `content` and `tool_calls`. */
  readonly answerFields: readonly string[];
  /** Refusal of other fields; by default they are ignored. */
  readonly unknown?: (key: string) => string;
  readonly toolName: RegExp;
  readonly sees: boolean;
  /** It refuses some request as a whole. */
  readonly demands?: (body: Json) => void;
  /** It refuses some messages for what stands before them. */
  readonly demandsOf?: (message: Json, place: { readonly before: Json | undefined; readonly body: Json }) => void;
}

const topKeys = ["model", "messages", "stream", "stream_options", "max_tokens", "temperature", "tools"];

/** Rules of a Chat Completions server. */
export function refuseChat(rules: ChatRules): Refuse {
  return refuseBy((body) => {
    const { unknown: sayUnknown } = rules;
    if (sayUnknown) demandKeys(body, [...topKeys, ...rules.fields], sayUnknown);
    rules.demands?.(body);
    for (const tool of listOf(body, "tools")) demandTool(tool, rules);
    demandMessages(body, rules);
  });
}

function demandTool(tool: Json, { toolName }: ChatRules): void {
  const described = tool["function"];
  demand(tool["type"] === "function" && isObject(described), "Missing required parameter: 'tools[0].function'.");
  demand(
    toolName.test(String(described["name"])),
    `Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '${toolName.source}'.`,
  );
  demandObjectSchema(described["parameters"], `function '${String(described["name"])}'`);
}

function demandMessages(body: Json, rules: ChatRules): void {
  const messages = listOf(body, "messages");
  demand(messages.length > 0, "Invalid 'messages': empty array.");
  let open: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    const role = String(message["role"]);
    demand(role !== "system" || index === 0, "System message must be at the beginning.");
    if (role === "tool") open = demandResult(message, open);
    else
      demand(
        open.length === 0,
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(", ")}`,
      );
    if (role === "assistant") open = demandAnswer(message, rules);
    if (role === "user" || role === "system") demandContent(message["content"], { rules, role });
    rules.demandsOf?.(message, { before: messages[index - 1], body });
  }
  demand(open.length === 0, "An assistant message with 'tool_calls' must be followed by tool messages.");
  demand(messages.at(-1)?.["role"] !== "assistant", "Expected last role User or Tool but got assistant.");
}

function demandResult(message: Json, open: readonly string[]): readonly string[] {
  const id = String(message["tool_call_id"]);
  demand(
    open.includes(id),
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
  );
  demandText(message["content"], "messages.tool");
  return open.filter((other) => other !== id);
}

/** The ids of its calls. */
function demandAnswer(message: Json, { answerFields, unknown: sayUnknown }: ChatRules): readonly string[] {
  if (sayUnknown) demandKeys(message, ["role", "content", "tool_calls", ...answerFields], sayUnknown);
  const calls = listOf(message, "tool_calls");
  const { content } = message;
  demand(
    calls.length > 0 || content !== null,
    "Assistant message must have either content or tool_calls, but not none.",
  );
  if (typeof content === "string") demandText(content, "messages.assistant");
  for (const call of calls) demandCall(call, { answerFields, sayUnknown });
  const ids = calls.map(({ id }) => String(id));
  demand(new Set(ids).size === ids.length, "Duplicate value for 'tool_call_id'.");
  return ids;
}

function demandCall(
  call: Json,
  { answerFields, sayUnknown }: { answerFields: readonly string[]; sayUnknown: ChatRules["unknown"] },
): void {
  if (sayUnknown) demandKeys(call, ["id", "type", "function", ...answerFields], sayUnknown);
  const called = call["function"];
  demand(isObject(called) && typeof called["arguments"] === "string", "Missing required parameter: 'function'.");
  demand(isObject(JSON.parse(called["arguments"])), "Invalid 'arguments': expected a JSON object.");
  demand(String(call["id"]).length <= 40, "Invalid 'tool_calls[0].id': string too long. Maximum length is 40.");
}

function demandContent(content: unknown, { rules, role }: { rules: ChatRules; role: string }): void {
  if (typeof content === "string") return demandText(content, `messages.${role}`);
  demand(Array.isArray(content) && role === "user", `Invalid content of a ${role}'s message.`);
  for (const part of content as readonly Json[]) {
    const url = part["image_url"];
    if (part["type"] === "text") demandText(part["text"], `messages.${role}`);
    else {
      demand(rules.sees, "This model does not support image input.");
      demandDataUrl(isObject(url) ? url["url"] : undefined, `messages.${role}`);
    }
  }
}
