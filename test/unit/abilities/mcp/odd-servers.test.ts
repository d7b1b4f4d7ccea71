import { once } from "node:events";
import { PassThrough } from "node:stream";
import { createInterface } from "node:readline";

import { expect, test } from "vitest";

import type { McpConnection } from "../../../../src/abilities/mcp/connection/connection.ts";
import { openStreams } from "../../../../src/abilities/mcp/connection/open-streams.ts";
import { checkTools } from "../../../../src/abilities/mcp/tools/listed-tool.ts";
import { toOutput } from "../../../../src/abilities/mcp/tools/result.ts";

/** Answers by method: a result, or the fields of a whole message. */
interface Odd {
  readonly greeting?: object;
  readonly tools?: (cursor: string | undefined) => object;
  readonly call?: unknown;
  /** Fields of the answer to a call, beside its id. */
  readonly answer?: object;
  readonly before?: string;
}

const greeting = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: {} },
  serverInfo: { name: "odd", version: "1" },
};
/** Stands for a number that JavaScript cannot write. */
const largeNumber = "large number";
const schema = { type: "object", properties: {} };
const echo = { name: "echo", description: "Says it again.", inputSchema: schema };

/** A connection with a server that speaks in its own way. */
async function open({ before = "", ...odd }: Odd): Promise<McpConnection> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const say = (id: unknown, fields: object) => {
    const message = JSON.stringify({ jsonrpc: "2.0", id, ...fields });
    output.write(`${message.replace(`"${largeNumber}"`, "1915883588174806058")}\n`);
  };
  const answers: Readonly<Record<string, (params: { cursor?: string }) => object>> = {
    initialize: () => ({ result: { ...greeting, ...odd.greeting } }),
    "tools/list": ({ cursor }) => ({ result: odd.tools?.(cursor) ?? { tools: [echo] } }),
    "tools/call": () => odd.answer ?? { result: odd.call },
  };
  output.write(before);
  createInterface({ input }).on("line", (line) => {
    const { id, method, params = {} } = JSON.parse(line) as { id?: unknown; method: string; params?: object };
    if (id !== undefined) say(id, answers[method]?.(params) ?? {});
  });
  const streams = {
    input,
    output,
    ended: once(output, "close").then(() => ({ exitCode: 0, reason: "over" })),
    [Symbol.asyncDispose]: async () => void output.destroy(),
  };
  return openStreams(streams, () => undefined, {
    client: { name: "crabpot", version: "0" },
    onToolsChanged: () => undefined,
    onLog: () => undefined,
    signal: new AbortController().signal,
  });
}

async function toolsOf(odd: Odd) {
  await using connection = await open(odd);
  const { items } = await connection.listTools(new AbortController().signal);
  const { tools, refused } = checkTools({ name: "odd", tools: undefined, risk: undefined }, items);
  return { names: tools.map(({ name }) => name), refused: refused.map(({ name }) => name) };
}

async function call(odd: Odd): Promise<string> {
  await using connection = await open(odd);
  const result = await connection.callTool("echo", {}, { signal: new AbortController().signal, timeoutMs: 600_000 });
  const { output, isError } = await toOutput(result, async () => ({ kind: "text", text: "" }));
  const text = typeof output === "string" ? output : output.text;
  return isError ? `Error: ${text}` : text;
}

const names = ["alpha", "beta", "gamma"];
const three = names.map((name) => ({ ...echo, name }));

test.each([
  ["an empty cursor", () => ({ tools: three, nextCursor: "" })],
  ["a cursor that is null", () => ({ tools: three, nextCursor: null })],
  ["a cursor that stays", () => ({ tools: three, nextCursor: "p2" })],
  ["cursors in a circle", (cursor?: string) => ({ tools: three, nextCursor: cursor === "a" ? "b" : "a" })],
  [
    "pages",
    (cursor?: string) => ({
      tools: three.slice(Number(cursor ?? 0), Number(cursor ?? 0) + 1),
      nextCursor: pageAfter(cursor),
    }),
  ],
])("a list of tools that ends with %s has each tool once", async (_what, tools) => {
  expect(await toolsOf({ tools })).toEqual({ names, refused: [] });
});

function pageAfter(cursor = "0"): string | undefined {
  return cursor === "2" ? undefined : String(Number(cursor) + 1);
}

test.each([
  ["no type but a choice", { inputSchema: { anyOf: [{ required: ["a"] }] } }, true],
  ["an empty schema", { inputSchema: {} }, true],
  ["no schema", { inputSchema: undefined }, true],
  ["nothing in place of texts", { description: null, annotations: null, title: null }, true],
  ["nothing in place of fields", { inputSchema: { type: "object", properties: null } }, true],
  ["a schema of results without a type", { outputSchema: { properties: {} } }, true],
  ["arguments that are a text", { inputSchema: { type: "string" } }, false],
  ["a schema that is a text", { inputSchema: "none" }, false],
])("a tool with %s costs no other one", async (_what, odd, isOffered) => {
  const tools = () => ({ tools: [{ ...echo, name: "bad", ...odd }, echo, null, "tool"] });

  expect(await toolsOf({ tools })).toEqual({
    names: isOffered ? ["bad", "echo"] : ["echo"],
    refused: isOffered ? [] : ["bad"],
  });
});

test.each([
  ["no instructions", { instructions: null }],
  ["no version", { serverInfo: { name: "odd" } }],
  ["no name", { serverInfo: null }],
  ["abilities without more", { capabilities: { tools: true, prompts: null, resources: false } }],
])("a server that greets with %s is used", async (_what, odd) => {
  expect(await toolsOf({ greeting: odd })).toEqual({ names: ["echo"], refused: [] });
});

test("a byte order mark and a banner before the first message are none", async () => {
  expect(await toolsOf({ before: "Welcome!\n\uFEFF" })).toEqual({ names: ["echo"], refused: [] });
});

const text = (said: string) => ({ type: "text", text: said });

test.each([
  ["a list of data", { content: [], structuredContent: [1] }, "[1]"],
  ["no data", { content: [text("a")], structuredContent: null, _meta: null }, "a"],
  ["notes that are null", { content: [{ ...text("a"), annotations: null }], isError: null }, "a"],
  ["a failure in words", { content: [text("a")], isError: "true" }, "Error: a"],
  ["no failure in words", { content: [text("a")], isError: "false" }, "a"],
  ["no content", { content: null }, "(no output)"],
  ["a text as content", { content: "a" }, "a"],
  [
    "a piece of an unknown kind",
    { content: [text("a"), { type: "video" }, text("b")] },
    "a\n[something of type video that cannot be read]\nb",
  ],
  [
    "a piece without its text",
    { content: [{ type: "text" }, text("b")] },
    "[something of type text that cannot be read]\nb",
  ],
  [
    "a picture without a type",
    { content: [{ type: "image", data: "AA==" }] },
    "[something of type image that cannot be read]",
  ],
  ["nothing of the protocol", { success: true, configs: ["a"] }, '{"success":true,"configs":["a"]}'],
  ["a text alone", "done", "done"],
  ["data beside a text", { content: [text("see there")], structuredContent: { a: 1 } }, 'see there\n{"a":1}'],
  ["data that the text has", { content: [text('{ "a": 1 }')], structuredContent: { a: 1 } }, '{ "a": 1 }'],
])("a result with %s is what can be read of it", async (_what, result, said) => {
  expect(await call({ call: result })).toBe(said);
});

test.each([
  ["null beside a result", { result: { content: [text("a")] }, error: null }, "a"],
  ["a text", { error: "boom" }, /boom/],
  ["without a code", { error: { message: "boom" } }, /boom/],
  ["without words", { error: { code: -1, message: null } }, /gave no reason/],
])("an answer whose error is %s ends its call at once", async (_what, answer, said) => {
  await expect(call({ answer }).catch((error: Error) => `failed: ${error.message}`)).resolves.toMatch(said);
});

test("the digits of large numbers reach the model", async () => {
  expect(await call({ call: { structuredContent: { id: largeNumber, price: 1.5 } } })).toContain("1915883588174806058");
});
