import { gzipSync } from "node:zlib";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import type { ModelAnswer } from "../../../src/domain/turns/model.ts";
import { openProvider } from "../../../src/models/catalog.ts";
import type { ProviderRequest } from "../../../src/models/provider.ts";

const request: ProviderRequest = {
  model: "some-model",
  system: ["You are crab."],
  messages: [{ role: "user", text: "hello" }],
  tools: [{ name: "shell", description: "Runs.", inputSchema: { type: "object" } }],
  maxOutputTokens: 1_000,
};

interface Sent {
  readonly type?: string;
  readonly body: string | Buffer;
  readonly encoding?: string;
}

/** Answers of a server that calls itself compatible, as `openai` reads them. */
async function ask({ type = "text/event-stream", body, encoding }: Sent): Promise<ModelAnswer> {
  await using server = createServer((asked, response) => {
    asked.resume();
    response.writeHead(200, { "content-type": type, ...(encoding !== undefined && { "content-encoding": encoding }) });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  await using provider = await openProvider("local", { kind: "openai", apiKey: "none", baseUrl });
  return await provider.complete(request, { signal: new AbortController().signal });
}

const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ delta, finish_reason }] })}\n\n`;
const done = "data: [DONE]\n\n";

function callWith(input: string): Sent {
  const call = { index: 0, id: "x", function: { name: "shell", arguments: input } };
  return { body: chunk({ tool_calls: [call] }, "tool_calls") + done };
}

test.each([
  ["null", {}],
  ["[]", {}],
  ["", {}],
  ['{"command":"echo hi",}', { command: "echo hi" }],
  ['{"list":[1,2,\n],"a":"x,]",}', { list: [1, 2], a: "x,]" }],
  [JSON.stringify('{"command":"echo hi"}'), { command: "echo hi" }],
  ['{"command":"a\nb\tc"}', { command: "a\nb\tc" }],
  [
    '{"id":2512292042121000001,"ids":[7960607143101464576]}',
    { id: "2512292042121000001", ids: ["7960607143101464576"] },
  ],
  [
    '{"n":9007199254740993,"m":9007199254740991,"x":1.5,"y":-3}',
    { n: "9007199254740993", m: 9007199254740991, x: 1.5, y: -3 },
  ],
  ['{"n":1e400}', { n: "1e400" }],
  // No arguments that can be told: the call fails, with what the model wrote.
  ['{"command":', '{"command":'],
  ['{"command":"rm -rf build', '{"command":"rm -rf build'],
  ['{"n":NaN}', '{"n":NaN}'],
  ['{"n":007}', '{"n":007}'],
  ["[1]", "[1]"],
  ["5", "5"],
])("arguments %j are read as %j", async (text, input) => {
  expect(await ask(callWith(text))).toMatchObject({ stop: "tool-calls", toolCalls: [{ name: "shell", input }] });
});

test.each([
  ["<think>the user is annoying, 2+2</think>\n\nFour.", "Four."],
  ["\n<thinking>2+2</thinking>\n<think>4</think>Four.", "Four."],
  ["2+2 is 4\n</think>\n\nFour.", "Four."],
  ["<think>never closed", ""],
  ["Write `</think>`\nlike this.", "Write `</think>`\nlike this."],
  ["Four. <think>no thought</think>", "Four. <think>no thought</think>"],
  ["<thin ice>", "<thin ice>"],
  ["<thi", "<thi"],
])("of %j people see %j, in pieces of any size", async (text, shown) => {
  for (const size of [1, 3, text.length]) {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    const body = pieces.map((content) => chunk({ content })).join("") + chunk({}, "stop") + done;

    expect((await ask({ body })).text.trim()).toBe(shown);
  }
});

const whole = { choices: [{ message: { role: "assistant", content: "Four." }, finish_reason: "stop" }] };

test.each([
  ["a stream that ends without a reason", { body: chunk({ content: "Four." }) + done }],
  ["a whole answer in JSON", { type: "application/json", body: JSON.stringify(whole, null, 2) }],
  ["a packed stream", { encoding: "gzip", body: gzipSync(chunk({ content: "Four." }, "stop") + done) }],
  ["a packed answer in JSON", { type: "application/json", encoding: "gzip", body: gzipSync(JSON.stringify(whole)) }],
])("%s is an answer", async (_what, sent) => {
  expect(await ask(sent)).toMatchObject({ text: "Four.", stop: "end", toolCalls: [] });
});

test("a call in a stream that ends without a reason is a call", async () => {
  const call = { index: 0, id: "x", function: { name: "shell", arguments: "{}" } };

  expect(await ask({ body: chunk({ tool_calls: [call] }) + done })).toMatchObject({ toolCalls: [{ name: "shell" }] });
});

test.each([
  ["is cut", { body: chunk({ content: "Fo" }) }, "the stream ended before the answer did"],
  ["says nothing", { body: done }, "the stream ended before the answer did"],
  ["is an error with status 200", { type: "application/json", body: '{"error":{"message":"loading"}}' }, "loading"],
  ["is a web page", { type: "text/html; charset=utf-8", body: "<html>Log in</html>" }, "it answered with a web page"],
])("an answer that %s is none, and the reason says so", async (_what, sent, reason) => {
  await expect(ask(sent)).rejects.toMatchObject({ failure: "unavailable", message: expect.stringContaining(reason) });
});
