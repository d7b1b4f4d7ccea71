import type { ChatRules } from "./chat.ts";
import { refuseChat } from "./chat.ts";
import { refuseMessages } from "./anthropic.ts";
import { demand, isObject, listOf } from "./refused.ts";
import type { Json, Refusal, Refuse } from "./refused.ts";
import { refuseResponses } from "./responses.ts";

/** A vendor's server, as strict as its documents say. What is encrypted or signed by its models is on these lists. */
export interface StrictVendor {
  readonly path: string;
  readonly refuse: Refuse;
  /** Formats a refusal. */
  readonly error: (refusal: Refusal) => unknown;
}

/** Seal of the recorded models' signatures and encryption. */
export const ownSeal = "c2VhbGVkIGJ5IGl0cyBvd24gbW9kZWw=";
const otherSeal = "skip_thought_signature_validator";

const openAiName = /^[a-zA-Z0-9_-]{1,64}$/;

function invalidRequest({ message }: Refusal): unknown {
  return { error: { message, type: "invalid_request_error", param: null, code: null } };
}

function effortOf(values: readonly unknown[], say: (value: string) => string): (body: Json) => void {
  return ({ reasoning_effort: effort }) => demand(effort === undefined || values.includes(effort), say(String(effort)));
}

/** Its calls of tools bring their thoughts along, if it thinks. */
function demandReasoning(message: Json, { index, isFilled }: { index: string; isFilled: boolean }): void {
  if (message["role"] !== "assistant" || message["tool_calls"] === undefined) return;
  const thought = message["reasoning_content"];
  demand(typeof thought === "string" && (!isFilled || thought.trim() !== ""), index);
}

function isThinkingOff(body: Json): boolean {
  return isObject(body["thinking"]) && body["thinking"]["type"] === "disabled";
}

function chat(rules: Partial<ChatRules>): Refuse {
  return refuseChat({ fields: [], answerFields: [], toolName: openAiName, sees: true, ...rules });
}

const openAi = chat({
  fields: ["max_completion_tokens", "reasoning_effort"],
  unknown: (key) => `Unrecognized request argument supplied: ${key}`,
  demands: (body) => {
    demand(
      body["max_tokens"] === undefined,
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
    demand(
      body["temperature"] === undefined,
      "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
    );
    demand(
      listOf(body, "tools").length === 0 || body["reasoning_effort"] === "none",
      `Function tools with reasoning_effort are not supported for ${String(body["model"])} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
    );
  },
});

const gemini = chat({
  fields: ["reasoning_effort", "max_completion_tokens"],
  answerFields: ["extra_content"],
  unknown: (key) => `Invalid JSON payload received. Unknown name "${key}": Cannot find field.`,
  toolName: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
  demandsOf: (message) => {
    const [first] = listOf(message, "tool_calls");
    if (first === undefined) return;
    const extra = first["extra_content"];
    const google = isObject(extra) ? extra["google"] : undefined;
    const signature = isObject(google) ? google["thought_signature"] : undefined;
    demand(
      signature !== undefined,
      "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.",
    );
    demand(signature === ownSeal || signature === otherSeal, "Corrupted thought signature.");
  },
});

const mistral = chat({
  fields: ["reasoning_effort"],
  unknown: (key) => `Extra inputs are not permitted: ${key}`,
  demands: effortOf(["high", "none"], (value) => `reasoning_effort: Input should be 'high' or 'none', got ${value}`),
  demandsOf: (message, { before }) => {
    const { role } = message;
    demand(role !== "user" || before?.["role"] !== "tool", "Unexpected role 'user' after role 'tool'");
    const ids = role === "tool" ? [message["tool_call_id"]] : listOf(message, "tool_calls").map(({ id }) => id);
    for (const id of ids)
      demand(
        /^[a-zA-Z0-9]{9}$/.test(String(id)),
        `Tool call id was ${String(id)} but must be a-z, A-Z, 0-9, with a length of 9.`,
      );
  },
});

const kimi = chat({
  toolName: /^[a-zA-Z_][a-zA-Z0-9-_]{2,63}$/,
  demands: (body) =>
    demand(
      body["temperature"] === undefined || body["temperature"] === 1,
      "invalid temperature: only 1 is allowed for this model",
    ),
  demandsOf: (message, { body }) => {
    const say = "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2";
    if (!isThinkingOff(body)) demandReasoning(message, { index: say, isFilled: true });
  },
});

const deepSeek = chat({
  sees: false,
  demandsOf: (message, { body }) => {
    const say = "The `reasoning_content` in the thinking mode must be passed back to the API.";
    if (!isThinkingOff(body)) demandReasoning(message, { index: say, isFilled: false });
  },
});

const groq = chat({
  fields: ["reasoning_effort", "max_completion_tokens"],
  answerFields: ["reasoning"],
  unknown: (key) => `property '${key}' is unsupported`,
  sees: false,
  demands: effortOf(["low", "medium", "high"], () => "`reasoning_effort` must be one of `low`, `medium`, or `high`"),
});

const xai = chat({
  demands: effortOf(
    ["low", "medium", "high", "xhigh"],
    (value) => `Invalid reasoning effort: reasoningEffort ${value}`,
  ),
});

const local = { answerFields: ["reasoning", "reasoning_content"], sees: false };

const noEffort = effortOf([], () => "unknown field reasoning_effort");

/** By the name under which its recordings lie. */
export const strictVendors: Readonly<Record<string, StrictVendor>> = {
  anthropic: {
    path: "/v1/messages",
    refuse: refuseMessages({ thinking: "adaptive", fixedTemperature: true, signatures: [ownSeal] }),
    error: ({ message }) => ({ type: "error", error: { type: "invalid_request_error", message } }),
  },
  "anthropic-budget": {
    path: "/v1/messages",
    refuse: refuseMessages({ thinking: "budget", signatures: [ownSeal] }),
    error: ({ message }) => ({ type: "error", error: { type: "invalid_request_error", message } }),
  },
  openai: { path: "/v1/chat/completions", refuse: openAi, error: invalidRequest },
  "openai-responses": {
    path: "/v1/responses",
    refuse: refuseResponses({ isReasoning: true, encrypted: [ownSeal] }),
    error: invalidRequest,
  },
  gemini: {
    path: "/v1/chat/completions",
    refuse: gemini,
    error: ({ status, message }) => [{ error: { code: status, message, status: "INVALID_ARGUMENT" } }],
  },
  deepseek: {
    path: "/v1/chat/completions",
    refuse: deepSeek,
    error: ({ message }) => ({
      error: { message, type: "invalid_request_error", param: null, code: "invalid_request_error" },
    }),
  },
  kimi: {
    path: "/v1/chat/completions",
    refuse: kimi,
    error: ({ message }) => ({ error: { message, type: "invalid_request_error" } }),
  },
  qwen: {
    path: "/v1/chat/completions",
    refuse: chat({ demands: noEffort }),
    error: ({ message }) => ({
      error: { message, type: "invalid_request_error", param: null, code: "invalid_parameter_error" },
      request_id: "1",
    }),
  },
  openrouter: {
    path: "/v1/chat/completions",
    refuse: chat({ demands: noEffort }),
    error: ({ status, message }) => ({ error: { message, code: status, metadata: { provider_name: "Some" } } }),
  },
  mistral: {
    path: "/v1/chat/completions",
    refuse: mistral,
    error: ({ message }) => ({
      object: "error",
      message: message.startsWith("Extra") ? { detail: [{ type: "extra_forbidden", msg: message }] } : message,
      type: "invalid_request_error",
      param: null,
      code: "3280",
    }),
  },
  groq: {
    path: "/v1/chat/completions",
    refuse: groq,
    error: ({ message }) => ({ error: { message, type: "invalid_request_error" } }),
  },
  xai: {
    path: "/v1/chat/completions",
    refuse: xai,
    error: ({ message }) => ({ code: "Client specified an invalid argument", error: message }),
  },
  ollama: { path: "/v1/chat/completions", refuse: chat({ ...local }), error: invalidRequest },
  vllm: {
    path: "/v1/chat/completions",
    refuse: chat({ ...local, demands: noEffort }),
    error: ({ status, message }) => ({ error: { message, type: "BadRequestError", param: null, code: status } }),
  },
  "llama.cpp": {
    path: "/v1/chat/completions",
    refuse: chat({ ...local, demands: noEffort }),
    error: ({ status, message }) => ({ error: { code: status, message, type: "invalid_request_error" } }),
  },
};
