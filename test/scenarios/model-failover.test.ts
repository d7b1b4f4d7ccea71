import { expect, test } from "vitest";

import { TestHost } from "../support/host.ts";
import { readRecordings } from "../support/model-servers/recordings.ts";
import { startStrictServer } from "../support/model-servers/strict-server.ts";

interface Item {
  readonly type: string;
  readonly role?: string;
  readonly content?: unknown;
}

/** An answer of OpenAI's with what it has thought, encrypted, and two calls of `shell`. */
function thoughtfulCalls(): string {
  const found = readRecordings().find(({ vendor, name }) => vendor === "openai-responses" && name === "tools");
  const events = found?.recording.steps[0]?.exchanges[0]?.events ?? [];
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

test("a turn that another vendor's model ends goes on with its calls, and the first model has its own thoughts again, after a crash too", async () => {
  await using first = await startStrictServer("openai-responses", ({ index }) => {
    if (index === 0) return { fault: "raw", body: thoughtfulCalls() };
    return index === 1 ? { fault: "status", status: 503, message: "overloaded" } : { text: "Still one." };
  });
  await using second = await startStrictServer("kimi", () => ({ text: "One file." }));
  await using host = await TestHost.start({
    withoutContainers: "all",
    shellHere: true,
    config: {
      models: {
        routes: { main: [{ model: "gpt/some-model", thinking: "low" }, "kimi/kimi-k2.6"] },
        providers: {
          gpt: { kind: "openai", api: "responses", apiKey: "sk-test-key", baseUrl: first.url },
          kimi: { kind: "kimi", apiKey: "sk-test-key", baseUrl: second.url },
        },
        attempts: 1,
      },
    },
  });

  const answer = await host.ask("family", "@crab how many files?");
  await host.end("SIGKILL");
  await host.boot();
  const again = await host.ask("family", "@crab are you sure?");

  expect(answer.text).toContain("One file.");
  expect(again.text).toContain("Still one.");
  expect([...first.requests, ...second.requests].filter(({ refused }) => refused !== undefined)).toEqual([]);
  // The other vendor sees the calls and their results, and none of the thoughts.
  expect(second.requests[0]?.toolOutputs).toHaveLength(2);
  expect(JSON.stringify(second.requests[0]?.body)).not.toContain("I list the files");
  const { input, store } = (first.requests[2]?.body ?? {}) as { input?: readonly Item[]; store?: boolean };
  expect(store).toBe(false);
  expect(input?.map(({ type, role }) => role ?? type)).toEqual([
    "user",
    "reasoning",
    "assistant",
    "function_call",
    "function_call",
    "function_call_output",
    "function_call_output",
    "assistant",
    "user",
  ]);
  expect(input?.[1]).toMatchObject({ id: "rs_1", encrypted_content: "c2VhbGVkIGJ5IGl0cyBvd24gbW9kZWw=" });
  expect(input?.[7]).toMatchObject({ content: "One file." });
});
