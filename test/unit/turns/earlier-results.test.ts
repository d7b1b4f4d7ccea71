import { join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { resultId } from "../../../src/turns/context/result-note.ts";
import { sessionId } from "../../../src/stores/contract/session-store.ts";
import type { Store } from "../../../src/stores/contract/store.ts";
import { type HostTool, toHostToolOutput } from "../../../src/tools/define-tool.ts";
import { readResult } from "../../../src/tools/results/read-result.ts";
import { earlierResults } from "../../../src/turns/conversation/earlier-results.ts";
import type { TurnScope } from "../../../src/turns/turn-scope.ts";
import { openStoreAt } from "../../support/open-store-at.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const output = Array.from({ length: 30_000 }, (_, index) => (index % 7 === 0 ? "🦀" : "x")).join("");

async function openStore(): Promise<{ store: Store } & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const store = stack.use(await openStoreAt(join(folder.path, "crabpot.sqlite")));
  const owned = stack.move();
  return { store, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** A turn of the group with one result, and what the notes call it. */
async function turnWithResult(store: Store, group: string, turn: string): Promise<{ scope: TurnScope; id: string }> {
  const key = `main:terminal:${group}`;
  const session = await store.sessions.open(key, group);
  const begun = await store.turns.begin(
    {
      id: turn,
      session: sessionId(key),
      group,
      conversation: session.conversation,
      cause: "api",
      replyTo: { kind: "nowhere" },
      at: 1,
    },
    { body: { kind: "user", text: "go" }, tokens: 1, at: 1 },
  );
  const results = [
    { callId: "a", output: "short", isError: false },
    { callId: "b", output, isError: false },
  ];
  const step = await store.turns.addStep(turn, { body: { kind: "tools", results }, tokens: 1, at: 2 });
  return { scope: { turn: begun.turn, session } as TurnScope, id: resultId({ step, index: 1 }) };
}

const place = { group: "g", turn: "t", signal: new AbortController().signal };

async function read(store: Store, scope: TurnScope, input: object): Promise<string> {
  const given = { ...place, results: earlierResults(store.turns, scope) } as Parameters<HostTool["run"]>[1];
  const said = await readResult.run(input, given);
  return toHostToolOutput(said).output.text;
}

function refusal(id: string): string {
  return `There is no result ${id} in this conversation, or it is not kept anymore. Take the id from the note that stands in its place.`;
}

test("a result of the conversation can be read again, in pieces that together are all of it", async () => {
  await using opened = await openStore();
  const { scope, id } = await turnWithResult(opened.store, "red", "aaaaaaaa-1111");

  const pieces: string[] = [];
  for (let from = 0; from < output.length;) {
    const said = await read(opened.store, scope, { id, from, chars: 9_999 });
    const [, piece = "", end = "0"] =
      /^([^]*)\n\[characters \d+ to (\d+) of \d+(?:; go on with from \d+)?\]$/.exec(said) ?? [];
    expect(piece.isWellFormed()).toBe(true);
    pieces.push(piece);
    from = Number(end);
  }

  expect(pieces.join("")).toBe(output);
  await expect(read(opened.store, scope, { id, from: output.length })).rejects.toThrow("begin before its end");
});

test("results of other groups, of an earlier conversation, and ids that are guessed are refused in the same words", async () => {
  await using opened = await openStore();
  const { store } = opened;
  const red = await turnWithResult(store, "red", "aaaaaaaa-1111");
  const blue = await turnWithResult(store, "blue", "aaaaaaaa-2222");

  for (const id of [blue.id, "aaaaaaaa-00000000", "aaaaaaaa", "%", "_________", "aaaaaaaa-1111"])
    await expect(read(store, red.scope, { id })).rejects.toThrow(refusal(id));
  const later = { ...red.scope, turn: { ...red.scope.turn, conversation: 2 } };
  await expect(read(store, later, { id: red.id })).rejects.toThrow(refusal(red.id));
  expect(await read(store, red.scope, { id: red.id })).toContain("🦀");
});

test("whatever an id is, it is answered or refused, and nothing else happens", async () => {
  await using opened = await openStore();
  const { scope } = await turnWithResult(opened.store, "red", "aaaaaaaa-1111");

  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1, maxLength: 64 }), async (id) => {
      await expect(read(opened.store, scope, { id })).rejects.toThrow("There is no result");
    }),
    { numRuns: 50 },
  );
});
