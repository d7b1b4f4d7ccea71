import {
  demand,
  demandKeys,
  demandMimeType,
  demandObjectSchema,
  demandText,
  isObject,
  listOf,
  refuseBy,
} from "./refused.ts";
import type { Json, Refuse } from "./refused.ts";

interface ClaudeRules {
  /** Supported kinds of thinking. */
  readonly thinking: "adaptive" | "budget" | "none";
  /** It takes no `temperature` at all. */
  readonly fixedTemperature?: boolean;
  /** Signatures that it knows as its own. */
  readonly signatures: readonly string[];
}

const topKeys = [
  "model",
  "max_tokens",
  "stream",
  "system",
  "messages",
  "thinking",
  "output_config",
  "temperature",
  "tools",
];

/**
 * Rules of the Messages API by its documents: https://platform.claude.com/docs/en/api/messages and the pages on tool
 * use, thinking and prompt caching, November 2026.
 */
export function refuseMessages(rules: ClaudeRules): Refuse {
  return refuseBy((body) => {
    demandKeys(body, topKeys, (key) => `${key}: Extra inputs are not permitted`);
    demand(Number.isInteger(body["max_tokens"]) && Number(body["max_tokens"]) >= 1, "max_tokens: Field required");
    demandMarks(body);
    demandThinking(body, rules);
    const tools = listOf(body, "tools");
    for (const [index, tool] of tools.entries()) demandTool(tool, `tools.${index}`);
    demandMessages(body, rules);
  });
}

function demandTool(tool: Json, at: string): void {
  demandKeys(
    tool,
    ["name", "description", "input_schema", "cache_control"],
    (key) => `${at}.${key}: Extra inputs are not permitted`,
  );
  demand(
    /^[a-zA-Z0-9_-]{1,128}$/.test(String(tool["name"])),
    `${at}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
  );
  demandObjectSchema(tool["input_schema"], at);
}

/** At most four breakpoints of the cache, none on thoughts or on text with nothing in it. */
function demandMarks(body: Json): void {
  let marks = 0;
  const look = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) look(item);
    if (!isObject(value)) return;
    if (value["cache_control"] !== undefined) {
      marks += 1;
      const type = String(value["type"]);
      demand(!type.includes("thinking"), `cache_control: cannot be set on ${type} blocks`);
    }
    for (const [key, item] of Object.entries(value)) if (key !== "input" && key !== "input_schema") look(item);
  };
  look(body);
  demand(marks <= 4, `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
}

function demandThinking(body: Json, rules: ClaudeRules): void {
  const { thinking, temperature } = body;
  demand(temperature === undefined || rules.fixedTemperature !== true, "`temperature` is deprecated for this model.");
  demand(
    temperature === undefined || (Number(temperature) >= 0 && Number(temperature) <= 1),
    "temperature: range 0..1",
  );
  if (thinking === undefined) return;
  demand(isObject(thinking), "thinking: Input should be an object");
  const type = thinking["type"];
  if (type === "disabled") return demand(rules.thinking !== "none", "thinking: Extra inputs are not permitted");
  demand(
    temperature === undefined || temperature === 1,
    "`temperature` may only be set to 1 when thinking is enabled.",
  );
  if (type === "adaptive") {
    demand(rules.thinking === "adaptive", "adaptive thinking is not supported on this model");
    return;
  }
  demand(
    rules.thinking === "budget",
    '"thinking.type.enabled" is not supported for this model. Use adaptive thinking.',
  );
  demand(body["output_config"] === undefined, "This model does not support the effort parameter.");
  const budget = Number(thinking["budget_tokens"]);
  demand(budget >= 1_024, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
  demand(budget < Number(body["max_tokens"]), "`max_tokens` must be greater than `thinking.budget_tokens`.");
}

function demandMessages(body: Json, rules: ClaudeRules): void {
  for (const { text } of listOf(body, "system")) demandText(text, "system");
  const messages = listOf(body, "messages");
  demand(messages.length > 0 && messages[0]?.["role"] === "user", "messages: first message must use the user role");
  demand(messages.at(-1)?.["role"] === "user", "This model does not support assistant message prefill.");
  let open: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    demandKeys(message, ["role", "content"], (key) => `${at}.${key}: Extra inputs are not permitted`);
    const content = listOf(message, "content");
    demand(content.length > 0, `${at}: all messages must have non-empty content`);
    demandAnswers(content, open, at);
    open = message["role"] === "assistant" ? content.flatMap(callId) : [];
    demand(new Set(open).size === open.length, `${at}: \`tool_use\` ids must be unique`);
    for (const [number, block] of content.entries())
      demandBlock(block, { at: `${at}.content.${number}`, role: message["role"], rules });
  }
  const isThinking = isObject(body["thinking"]) && body["thinking"]["type"] === "enabled";
  if (isThinking) demandThoughtFirst(messages);
}

function callId(block: Json): string[] {
  return block["type"] === "tool_use" ? [String(block["id"])] : [];
}

/** Results of all calls, and of no others, at the beginning of the message behind them. */
function demandAnswers(content: readonly Json[], open: readonly string[], at: string): void {
  const answered = content.flatMap((block) => (block["type"] === "tool_result" ? [String(block["tool_use_id"])] : []));
  const missing = open.filter((id) => !answered.includes(id));
  demand(
    missing.length === 0,
    `${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}`,
  );
  const unexpected = answered.filter((id) => !open.includes(id));
  demand(
    unexpected.length === 0,
    `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unexpected[0]}`,
  );
  const last = content.findLastIndex((block) => block["type"] === "tool_result");
  demand(last < answered.length, `${at}: \`tool_result\` blocks must come first in the content`);
}

interface BlockPlace {
  readonly at: string;
  readonly role: unknown;
  readonly rules: ClaudeRules;
}

function demandBlock(block: Json, { at, role, rules }: BlockPlace): void {
  const type = String(block["type"]);
  const allowed =
    role === "assistant" ? ["text", "tool_use", "thinking", "redacted_thinking"] : ["text", "image", "tool_result"];
  demand(
    allowed.includes(type),
    `${at}: Input tag '${type}' found using 'type' does not match any of the expected tags`,
  );
  if (type === "text") demandText(block["text"], at);
  if (type === "image") demandImage(block, at);
  if (type === "tool_result") demandResult(block, at);
  if (type === "tool_use")
    demand(
      /^[a-zA-Z0-9_-]+$/.test(String(block["id"])) && isObject(block["input"]),
      `${at}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`,
    );
  const signature = String(block["signature"] ?? block["data"]);
  if (type.includes("thinking"))
    demand(rules.signatures.includes(signature), `${at}: Invalid \`signature\` in \`${type}\` block`);
}

function demandImage(block: Json, at: string): void {
  const source = block["source"];
  demand(isObject(source) && source["type"] === "base64" && source["data"] !== "", `${at}.source: Field required`);
  demandMimeType(source["media_type"], at);
}

function demandResult(block: Json, at: string): void {
  const { content } = block;
  if (typeof content === "string") return demandText(content, at);
  for (const part of listOf(block, "content")) {
    if (part["type"] === "image") demandImage(part, at);
    else demandText(part["text"], at);
  }
}

function isResults(message: Json): boolean {
  return listOf(message, "content").some(({ type }) => type === "tool_result");
}

/** With a budget, what goes on with results has to have begun with a thought. */
function demandThoughtFirst(messages: readonly Json[]): void {
  const spoken = messages.findLastIndex((message) => message["role"] === "user" && !isResults(message));
  const next = messages[spoken + 1];
  if (next === undefined) return;
  const type = String(listOf(next, "content")[0]?.["type"]);
  demand(
    type.includes("thinking"),
    `messages.${spoken + 1}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
  );
}
