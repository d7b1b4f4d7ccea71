import { expect, test } from "vitest";

import type { ToolDefinition } from "../../../src/domain/turns/model.ts";
import { AppError } from "../../../src/lib/app-error.ts";
import { sleep } from "../../../src/lib/time/sleep.ts";
import { codeAndText, modelCall, openModelCalls } from "./open-model-calls.ts";

const tool: ToolDefinition = { name: "shell", description: "Runs.", inputSchema: { type: "object" } };

test("the first model of the route answers", async () => {
  await using opened = await openModelCalls({});

  const answer = await opened.models.complete(modelCall());

  expect(answer).toMatchObject({ text: "first", model: "claude/small" });
  expect(opened.second.requests).toHaveLength(0);
});

test("a model that is overloaded is asked again, as late as it wants, and then the next one", async () => {
  await using opened = await openModelCalls({
    first: () => ({ fault: "status", status: 529, headers: { "retry-after": "5" } }),
  });

  const answer = await opened.models.complete(modelCall());

  expect(answer.text).toBe("second");
  expect(opened.first.requests).toHaveLength(3);
  expect(opened.waits).toEqual([5_500, 6_000]);
});

test("a model that recovers is not given up", async () => {
  await using opened = await openModelCalls({
    first: ({ index }) => (index < 2 ? { fault: "cut", answer: { text: "half" } } : { text: "whole" }),
  });

  await expect(opened.models.complete(modelCall())).resolves.toMatchObject({ text: "whole" });
});

test.each([
  ["a refused key", { status: 401 }],
  ["a bad request", { status: 400 }],
  ["a prompt that is too long for it", { status: 400, message: "prompt is too long" }],
  ["an hour to wait", { status: 429, headers: { "retry-after": "3600" } }],
] as const)("with %s the next model is asked at once", async (_title, fault) => {
  await using opened = await openModelCalls({ first: () => ({ fault: "status", ...fault }) });

  await expect(opened.models.complete(modelCall())).resolves.toMatchObject({ text: "second" });

  expect(opened.first.requests).toHaveLength(1);
  expect(opened.waits).toEqual([]);
});

test("when no model answers, the error lists what was tried and why, without keys", async () => {
  await using opened = await openModelCalls({
    first: () => ({ fault: "status", status: 401, message: "bad key sk-test-secret-1" }),
    second: () => ({ fault: "status", status: 500, message: "oops" }),
  });

  const { code, message } = await codeAndText(opened.models.complete(modelCall()));

  expect(code).toBe("model_unavailable");
  expect(message).toBe(
    "No model answered. claude/small: auth after 1 try (claude answered 401: bad key [key]); gpt/small: unavailable after 3 tries (gpt answered 500: oops).",
  );
});

test("a route that is missing, or that names a provider that is missing, is a fault of the configuration", async () => {
  await using opened = await openModelCalls({ route: ["nobody/small"] });

  await expect(opened.models.complete(modelCall())).rejects.toMatchObject({ code: "config_invalid" });
  await expect(opened.models.complete(modelCall({ route: "other" }))).rejects.toMatchObject({
    code: "config_invalid",
  });
});

test("a model without room for the prompt, or without tools, is not asked", async () => {
  await using opened = await openModelCalls({
    route: ["claude/tiny", "claude/plain", "gpt/small"],
    capabilities: { "claude/tiny": { contextTokens: 60 }, "claude/plain": { tools: false } },
  });

  const answer = await opened.models.complete(modelCall({ tools: [tool] }));

  expect(answer.model).toBe("gpt/small");
  expect(opened.first.requests).toHaveLength(0);
});

test("a conversation for which no model has room is told so", async () => {
  await using opened = await openModelCalls({
    second: () => ({ fault: "status", status: 413 }),
    capabilities: { "gpt/small": { contextTokens: 500_000 } },
  });

  const { code } = await codeAndText(
    opened.models.complete(modelCall({ messages: [{ role: "user", text: "x".repeat(200_000) }] })),
  );

  expect(code).toBe("context_too_large");
});

test("the room for prompts is that of the smallest model of the route", async () => {
  await using opened = await openModelCalls({
    capabilities: {
      "claude/small": { contextTokens: 100_000, maxOutputTokens: 8_000 },
      "gpt/small": { contextTokens: 50_000, maxOutputTokens: 10_000 },
    },
  });

  expect(opened.models.promptTokens("main")).toBe(40_000);
});

test("each try is on record before it is made, and how it came out", async () => {
  await using opened = await openModelCalls({
    first: () => ({ fault: "status", status: 401 }),
    second: () => ({ text: "hi", usage: { input: 20, output: 2 } }),
  });

  await opened.models.complete(modelCall());

  expect(opened.records).toMatchObject([
    { type: "model.requested", group: "family", data: { model: "claude/small", attempt: 1 } },
    { type: "model.responded", data: { outcome: "auth", usage: undefined } },
    { type: "model.requested", data: { model: "gpt/small" } },
    { type: "model.responded", data: { outcome: "answered", usage: { inputTokens: 20 } } },
  ]);
});

test("a call that cannot be put on record is not made", async () => {
  await using opened = await openModelCalls({
    publish: () => Promise.reject(new AppError("audit_broken", "The disk is full.")),
  });

  await expect(opened.models.complete(modelCall())).rejects.toMatchObject({ code: "audit_broken" });

  expect(opened.first.requests).toHaveLength(0);
});

test("a call that is aborted while it waits for its next try ends with the reason for it", async () => {
  const stop = new AbortController();
  const reason = new Error("stopped");
  await using opened = await openModelCalls({
    first: () => ({ fault: "status", status: 503 }),
    wait: (_ms, signal) => {
      stop.abort(reason);
      return sleep(60_000, signal);
    },
  });

  await expect(opened.models.complete(modelCall({ signal: stop.signal }))).rejects.toBe(reason);
});
