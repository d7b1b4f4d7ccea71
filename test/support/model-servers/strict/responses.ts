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

interface ResponsesRules {
  /** It thinks, and takes no `temperature`. */
  readonly isReasoning: boolean;
  /** Encrypted items. */
  readonly encrypted: readonly string[];
}

const topKeys = [
  "model",
  "stream",
  "store",
  "include",
  "max_output_tokens",
  "instructions",
  "input",
  "reasoning",
  "temperature",
  "tools",
];

const itemKeys: Readonly<Record<string, readonly string[]>> = {
  message: ["type", "role", "content", "phase"],
  function_call: ["type", "call_id", "name", "arguments"],
  function_call_output: ["type", "call_id", "output"],
  reasoning: ["type", "id", "summary", "content", "encrypted_content", "status"],
};

/**
 * Rules of the Responses API by https://developers.openai.com/api/reference/resources/responses/methods/create, the
 * guides on function calling and reasoning, and the SDK's types, November 2026.
 */
export function refuseResponses(rules: ResponsesRules): Refuse {
  return refuseBy((body) => {
    demandKeys(body, topKeys, (key) => `Unknown parameter: '${key}'.`);
    demand(Number(body["max_output_tokens"]) >= 16, "Invalid 'max_output_tokens': integer below minimum value.");
    demandModel(body, rules);
    for (const tool of listOf(body, "tools")) demandTool(tool);
    const input = listOf(body, "input");
    demand(input.length > 0, "Missing required parameter: 'input'.");
    for (const [index, item] of input.entries()) demandItem(item, { index, body, rules });
    demandPairs(input);
  });
}

function demandModel(body: Json, { isReasoning }: ResponsesRules): void {
  if (isReasoning)
    return demand(
      body["temperature"] === undefined,
      "Unsupported parameter: 'temperature' is not supported with this model.",
    );
  demand(body["include"] === undefined, "Encrypted content is not supported with this model.");
  demand(
    body["reasoning"] === undefined,
    "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
  );
}

function demandTool(tool: Json): void {
  demandKeys(tool, ["type", "name", "description", "parameters", "strict"], (key) => `Unknown parameter: '${key}'.`);
  demand(/^[a-zA-Z0-9_-]{1,64}$/.test(String(tool["name"])), "Invalid 'tools[0].name': string does not match pattern.");
  demandObjectSchema(tool["parameters"], `function '${String(tool["name"])}'`);
  // A strict one has to require each of its properties, and to allow no others.
  demand(tool["strict"] === false, `Invalid schema for function '${String(tool["name"])}': 'required' is incomplete.`);
}

interface ItemPlace {
  readonly index: number;
  readonly body: Json;
  readonly rules: ResponsesRules;
}

function demandItem(item: Json, { index, body, rules }: ItemPlace): void {
  const at = `input[${index}]`;
  const keys = itemKeys[String(item["type"])];
  demand(keys !== undefined, `Invalid value: '${String(item["type"])}' (${at}.type).`);
  demandKeys(item, keys, (key) => `Unknown parameter: '${at}.${key}'.`);
  if (item["type"] === "message") demandMessage(item, at);
  if (item["type"] === "function_call_output") demandOutput(item["output"], at);
  if (item["type"] === "function_call") {
    demand(isObject(parse(item["arguments"])), `Invalid '${at}.arguments'.`);
    demand(String(item["call_id"]).length <= 64, `Invalid '${at}.call_id': string too long.`);
  }
  if (item["type"] !== "reasoning") return;
  const encrypted = item["encrypted_content"];
  demand(
    body["store"] !== false || typeof encrypted === "string",
    `Item with id '${String(item["id"])}' not found. Items are not persisted when \`store\` is set to false.`,
    404,
  );
  demand(
    rules.encrypted.includes(String(encrypted)),
    `The encrypted content for item ${String(item["id"])} could not be verified.`,
  );
}

function parse(text: unknown): unknown {
  return typeof text === "string" ? (JSON.parse(text) as unknown) : undefined;
}

function demandMessage({ role, content, phase }: Json, at: string): void {
  demand(phase === undefined || role === "assistant", `Invalid value: '${at}.phase'.`);
  if (role === "assistant") return demandText(content, at);
  demand(role === "user", `Invalid value: '${String(role)}' (${at}.role).`);
  demandParts(content, at);
}

function demandParts(parts: unknown, at: string): void {
  demand(Array.isArray(parts) && parts.length > 0, `Invalid '${at}.content'.`);
  for (const part of parts as readonly Json[]) {
    if (part["type"] === "input_image") demandDataUrl(part["image_url"], at);
    else {
      demand(part["type"] === "input_text", `Invalid value: '${String(part["type"])}' (${at}.content).`);
      demandText(part["text"], at);
    }
  }
}

function demandOutput(output: unknown, at: string): void {
  if (typeof output === "string") demandText(output, at);
  else demandParts(output, at);
}

/** Each call has its one output behind it, each output its call before it, and each thought what it was for. */
function demandPairs(input: readonly Json[]): void {
  const calls: unknown[] = [];
  const answered = new Set<unknown>();
  for (const [index, item] of input.entries()) {
    const id = item["call_id"];
    if (item["type"] === "function_call") {
      demand(!calls.includes(id), `Duplicate item found with id ${String(id)}.`);
      calls.push(id);
    }
    if (item["type"] === "function_call_output") {
      demand(calls.includes(id), `No tool call found for function call output with call_id ${String(id)}.`);
      answered.add(id);
    }
    if (item["type"] === "reasoning")
      demand(
        follows(input[index + 1]),
        `Item '${String(item["id"])}' of type 'reasoning' was provided without its required following item.`,
      );
  }
  const open = calls.find((id) => !answered.has(id));
  demand(open === undefined, `No tool output found for function call ${String(open)}.`);
}

function follows(next: Json | undefined): boolean {
  return next !== undefined && next["type"] !== "function_call_output" && next["role"] !== "user";
}
