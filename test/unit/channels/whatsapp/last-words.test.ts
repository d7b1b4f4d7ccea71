import { pino } from "pino";
import { expect, test } from "vitest";

import { LastWords } from "../../../../src/processes/last-words.ts";
import { type WorkerOptions, WorkerProcess } from "../../../../src/channels/whatsapp/process/worker-process.ts";

const stack = "    at Object.<anonymous> (/x/worker.ts:1:2)\n    at node:internal/main:1\n\nNode.js v24.1.0\n";

function said(...chunks: string[]): LastWords {
  const words = new LastWords(["http://me:hunter22@proxy.example", "de", ""]);
  for (const chunk of chunks) words.hear(Buffer.from(chunk));
  return words;
}

test("before it holds keys, the error that it died of is told: one line, cut, without what its variables hold", () => {
  const missing = "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x' imported from /x/worker.ts";
  expect(said("noise\n", `throw it\n${missing}\n`, stack).tell()).toBe(missing);
  expect(said("it is over").tell()).toBe("it is over");
  expect(said("Error: no way through http://me:hunter22@proxy.example/ inside\n").tell()).toBe(
    "Error: no way through …/ inside",
  );
  expect(said(`Error: ${"x".repeat(1_000)}\u001b[31m\n`).tell()).toMatch(/^Error: x{293}… \(\d+ more\)$/);
  expect(said("Error: \u001b[31mred\n").tell()).toBe(String.raw`Error: \u{1b}[31mred`);
  expect([said().tell(), said("\n \n").tell()]).toEqual([undefined, undefined]);
});

test("once it holds keys nothing is told but what V8 itself says", () => {
  for (const line of ["Error: Bad MAC <Buffer 01 02>", "privKey: 0102", "FATAL ERROR: <Buffer 01 02>"]) {
    const words = said(`${line}\n${stack}`);
    words.holdsKeys = true;
    expect(words.tell()).toBeUndefined();
  }
  const words = said(
    "privKey: 0102\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n",
    stack,
  );
  words.holdsKeys = true;
  expect(words.tell()).toBe("FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory");
});

test("a worker that cannot begin says why, in the reason of its end", async () => {
  const unused = { answers: {}, listeners: {} } as Pick<WorkerOptions, "answers" | "listeners">;
  const variables = { NODE_OPTIONS: "--require=/nowhere/at/all.cjs" };
  await using worker = new WorkerProcess({ ...unused, variables, logger: pino({ level: "silent" }) });

  const { message } = await worker.exited;

  expect(message).toMatch(
    /^the WhatsApp process has ended \(code 1: Error: Cannot find module '\/nowhere\/at\/all\.cjs'\)$/,
  );
});
