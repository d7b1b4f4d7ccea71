import { describe, expect, test } from "vitest";

import { ownSeal, strictVendors } from "../../support/model-servers/strict/vendors.ts";

type Body = Record<string, unknown>;

const schema = { type: "object", properties: {} };
const image = { type: "image_url", image_url: { url: "data:image/png;base64,YQ==" } };
const chatTool = { type: "function", function: { name: "shell", description: "Runs.", parameters: schema } };

function call(id: string, more: object = {}): object {
  return { id, type: "function", function: { name: "shell", arguments: "{}" }, ...more };
}

function chat(messages: readonly object[], more: object = {}): Body {
  return { model: "m", stream: true, max_tokens: 100, messages, ...more };
}

const user = { role: "user", content: "hello" };
const loop = (id: string, answer: object = {}, more: object = {}): object[] => [
  user,
  { role: "assistant", content: null, tool_calls: [call(id, more)], ...answer },
  { role: "tool", tool_call_id: id, content: "done" },
];
const signed = { extra_content: { google: { thought_signature: ownSeal } } };

const claudeUser = { role: "user", content: [{ type: "text", text: "hello" }] };
const used = { type: "tool_use", id: "toolu_1", name: "shell", input: {} };
const claudeResult = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "done" }] };
const thought = { type: "thinking", thinking: "hm", signature: ownSeal };

function claude(messages: readonly object[], more: object = {}): Body {
  return { model: "m", stream: true, max_tokens: 5_000, messages, ...more };
}

function claudeLoop(...content: readonly object[]): object[] {
  return [claudeUser, { role: "assistant", content }, claudeResult];
}

const mark = { cache_control: { type: "ephemeral" } };
const marked = (text: string): object => ({ type: "text", text, ...mark });

const inputUser = { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] };
const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: ownSeal };
const called = { type: "function_call", call_id: "call_1", name: "shell", arguments: "{}" };
const output = { type: "function_call_output", call_id: "call_1", output: "done" };
const responsesTool = { type: "function", name: "shell", description: "Runs.", parameters: schema, strict: false };

function responses(input: readonly object[], more: object = {}): Body {
  return { model: "m", stream: true, store: false, max_output_tokens: 100, input, ...more };
}

/** Accepted and refused requests, by difference. */
const cases: Readonly<Record<string, readonly (readonly [string, Body, Body, RegExp])[]>> = {
  anthropic: [
    ["an unknown field", claude([claudeUser]), claude([claudeUser], { top_k: 1, user: "ann" }), /Extra inputs/],
    ["no limit", claude([claudeUser]), claude([claudeUser], { max_tokens: undefined }), /max_tokens/],
    ["an answer to go on from", claude([claudeUser]), claude(claudeLoop(used).slice(0, 2)), /prefill/],
    [
      "a call without result",
      claude(claudeLoop(used)),
      claude([...claudeLoop(used).slice(0, 2), claudeUser]),
      /tool_result/,
    ],
    ["a result without call", claude(claudeLoop(used)), claude([claudeUser, claudeResult]), /unexpected `tool_use_id`/],
    [
      "an empty text",
      claude([claudeUser]),
      claude([{ role: "user", content: [{ type: "text", text: " " }] }]),
      /empty/,
    ],
    [
      "another's signature",
      claude(claudeLoop(thought, used)),
      claude(claudeLoop({ ...thought, signature: "eA==" }, used)),
      /signature/,
    ],
    ["a temperature", claude([claudeUser]), claude([claudeUser], { temperature: 0.5 }), /temperature/],
    [
      "a budget",
      claude([claudeUser], { thinking: { type: "adaptive" } }),
      claude([claudeUser], { thinking: { type: "enabled", budget_tokens: 2_000 } }),
      /adaptive/,
    ],
    [
      "five breakpoints",
      claude([claudeUser], { system: ["a", "b", "c", "d"].map(marked) }),
      claude([claudeUser], { system: ["a", "b", "c", "d", "e"].map(marked) }),
      /maximum of 4/,
    ],
    [
      "a breakpoint on a thought",
      claude(claudeLoop(thought, used)),
      claude(claudeLoop({ ...thought, ...mark }, used)),
      /cache_control/,
    ],
    [
      "a picture of another kind",
      claude([claudeUser]),
      claude([
        {
          role: "user",
          content: [{ type: "image", source: { type: "base64", media_type: "image/tiff", data: "YQ==" } }],
        },
      ]),
      /tiff/,
    ],
    [
      "a picture in an answer",
      claude(claudeLoop(used)),
      claude(claudeLoop({ type: "image", source: {} }, used)),
      /does not match/,
    ],
    [
      "a tool's name with a dot",
      claude([claudeUser], { tools: [{ name: "a-b", input_schema: schema }] }),
      claude([claudeUser], { tools: [{ name: "a.b", input_schema: schema }] }),
      /pattern/,
    ],
  ],
  "anthropic-budget": [
    [
      "a loop that began without thought",
      claude(claudeLoop(thought, used), { thinking: { type: "enabled", budget_tokens: 2_000 } }),
      claude(claudeLoop(used), { thinking: { type: "enabled", budget_tokens: 2_000 } }),
      /Expected `thinking`/,
    ],
    [
      "a temperature beside thinking",
      claude([claudeUser], { temperature: 0.5 }),
      claude([claudeUser], { temperature: 0.5, thinking: { type: "enabled", budget_tokens: 2_000 } }),
      /temperature/,
    ],
    [
      "a budget above the limit",
      claude([claudeUser], { thinking: { type: "enabled", budget_tokens: 4_000 } }),
      claude([claudeUser], { thinking: { type: "enabled", budget_tokens: 5_000 } }),
      /max_tokens/,
    ],
  ],
  openai: [
    [
      "the older limit",
      chat([user], { max_tokens: undefined, max_completion_tokens: 9 }),
      chat([user]),
      /max_completion_tokens/,
    ],
    [
      "thoughts",
      chat(loop("call_1"), { max_tokens: undefined }),
      chat(loop("call_1", { reasoning_content: "hm" }), { max_tokens: undefined }),
      /Unrecognized/,
    ],
    [
      "tools while it thinks",
      chat([user], { max_tokens: undefined, tools: [chatTool], reasoning_effort: "none" }),
      chat([user], { max_tokens: undefined, tools: [chatTool] }),
      /reasoning_effort/,
    ],
    [
      "an id of 41 characters",
      chat(loop("x".repeat(40)), { max_tokens: undefined }),
      chat(loop("x".repeat(41)), { max_tokens: undefined }),
      /Maximum length is 40/,
    ],
    [
      "a tool's name of 65 characters",
      chat([user], {
        max_tokens: undefined,
        reasoning_effort: "none",
        tools: [{ ...chatTool, function: { ...chatTool.function, name: "x".repeat(64) } }],
      }),
      chat([user], {
        max_tokens: undefined,
        reasoning_effort: "none",
        tools: [{ ...chatTool, function: { ...chatTool.function, name: "x".repeat(65) } }],
      }),
      /pattern/,
    ],
    [
      "a picture in a result",
      chat([{ role: "user", content: [image] }], { max_tokens: undefined }),
      chat([...loop("call_1").slice(0, 2), { role: "tool", tool_call_id: "call_1", content: [image] }], {
        max_tokens: undefined,
      }),
      /text content/,
    ],
    [
      "a call without result",
      chat(loop("call_1"), { max_tokens: undefined }),
      chat([...loop("call_1").slice(0, 2), user], { max_tokens: undefined }),
      /did not have response/,
    ],
    [
      "a second system message",
      chat([{ role: "system", content: "a" }, user], { max_tokens: undefined }),
      chat([user, { role: "system", content: "a" }], { max_tokens: undefined }),
      /beginning/,
    ],
  ],
  "openai-responses": [
    ["an unknown field", responses([inputUser]), responses([inputUser], { stream_options: {} }), /Unknown parameter/],
    ["a temperature", responses([inputUser]), responses([inputUser], { temperature: 1 }), /temperature/],
    [
      "a strict tool",
      responses([inputUser], { tools: [responsesTool] }),
      responses([inputUser], { tools: [{ ...responsesTool, strict: undefined }] }),
      /required/,
    ],
    [
      "a thought without what it was for",
      responses([inputUser, reasoning, called, output]),
      responses([inputUser, called, reasoning, output]),
      /required following item/,
    ],
    [
      "a thought that is not with it",
      responses([inputUser, reasoning, called, output]),
      responses([inputUser, { ...reasoning, encrypted_content: undefined }, called, output]),
      /not persisted/,
    ],
    [
      "another's thought",
      responses([inputUser, reasoning, called, output]),
      responses([inputUser, { ...reasoning, encrypted_content: "eA==" }, called, output]),
      /could not be verified/,
    ],
    [
      "a call without output",
      responses([inputUser, called, output]),
      responses([inputUser, called]),
      /No tool output found/,
    ],
    [
      "an output without call",
      responses([inputUser, called, output]),
      responses([inputUser, output]),
      /No tool call found/,
    ],
  ],
  gemini: [
    ["a call without signature", chat(loop("call_1", {}, signed)), chat(loop("call_1")), /missing a thought_signature/],
    ["an unknown field", chat([user]), chat([user], { enable_thinking: true }), /Unknown name/],
  ],
  mistral: [
    ["an id of another length", chat(loop("D681PevKs")), chat(loop("call_1")), /length of 9/],
    [
      "people straight after a tool",
      chat([...loop("D681PevKs"), { role: "assistant", content: "ok" }, user]),
      chat([...loop("D681PevKs"), user]),
      /Unexpected role/,
    ],
  ],
  kimi: [
    [
      "calls without thoughts",
      chat(loop("call_1", { reasoning_content: "hm" })),
      chat(loop("call_1", { reasoning_content: "" })),
      /reasoning_content is missing/,
    ],
  ],
  deepseek: [
    [
      "calls without thoughts",
      chat(loop("call_1", { reasoning_content: "" })),
      chat(loop("call_1")),
      /must be passed back/,
    ],
    ["a picture", chat([user]), chat([{ role: "user", content: [image] }]), /image input/],
  ],
  groq: [
    [
      "no effort at all",
      chat([user], { reasoning_effort: "low" }),
      chat([user], { reasoning_effort: "none" }),
      /must be one of/,
    ],
  ],
};

describe.each(Object.entries(cases))("the strict server of %s", (vendor, ofVendor) => {
  test.each(ofVendor)("refuses %s", (_title, taken, refused, words) => {
    const strict = strictVendors[vendor];

    expect(strict?.refuse(JSON.parse(JSON.stringify(taken)) as Body)).toBeUndefined();
    expect(strict?.refuse(JSON.parse(JSON.stringify(refused)) as Body)?.message).toMatch(words);
  });
});
