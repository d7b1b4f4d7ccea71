import pino from "pino";
import { expect, test } from "vitest";

import { createReplyPatterns } from "../../../../src/delivery/redact.ts";
import { answerPieces, outputPieces } from "../../../../src/delivery/text-pieces.ts";
import type { Delta, MissedDeltas } from "../../../../src/domain/chats/delta.ts";
import { DeltaBus } from "../../../../src/records/events/deltas/delta-bus.ts";
import { DeltaQueue } from "../../../../src/records/events/deltas/delta-queue.ts";
import { type DeltaScope, TurnDeltas } from "../../../../src/records/events/deltas/turn-deltas.ts";

const secret = "sk-canary-0123456789/abc";
const patterns = createReplyPatterns([secret]);
const scope: DeltaScope = {
  turn: { id: "t", replyTo: { kind: "chat", channel: "http", chat: "family" } },
  group: { name: "family" },
  session: { id: "s" },
};
const place = { group: "family", session: "s", turn: "t", channel: "http", chat: "family" };
const call = { id: "c1", name: "shell", input: {} };

function answer(text: string, turn = "t"): Delta {
  return { group: "family", session: "s", turn, type: "answer", text };
}

/** Turns that are watched, and all that was seen of them. */
function openRig({ watched = true } = {}) {
  const log: string[] = [];
  const bus = new DeltaBus(pino({ level: "error" }, { write: (line: string) => void log.push(line) }));
  let now = 0;
  let made = 0;
  const deltas = new TurnDeltas({
    bus,
    piecesOf: () => {
      made += 1;
      return { answer: () => answerPieces(patterns), output: () => outputPieces(patterns) };
    },
    clock: { monotonic: () => now },
  });
  const seen: Delta[] = [];
  const watch = (): Disposable => bus.watch({ wants: () => true, take: (delta) => void seen.push(delta) });
  if (watched) watch();
  return { bus, deltas, seen, log, watch, made: () => made, pass: (ms: number) => (now += ms) };
}

test("without a watcher nothing is worked out: no answer is followed and no output wanted", () => {
  const { deltas, made } = openRig({ watched: false });

  expect(deltas.answer(scope)).toBeUndefined();
  expect(deltas.calls(scope, [call], () => expect.fail("nobody asked"))).toBe(false);
  deltas.doing(scope, () => expect.fail("nobody asked"));
  deltas.output(scope, { callId: "c1", text: "x" });
  deltas.over(scope);

  expect(made()).toBe(0);
});

test("a turn is told from its first answer to its end", () => {
  const { deltas, seen } = openRig();

  const first = deltas.answer(scope);
  const tell = first?.onTry();
  tell?.("I look. ");
  first?.end();
  const wanted = deltas.calls(scope, [call], () => "running a command");
  deltas.output(scope, { callId: "c1", text: "one\n" });
  const second = deltas.answer(scope);
  second?.onTry()("Done.");
  second?.end();
  deltas.over(scope);

  expect(wanted).toBe(true);
  expect(seen).toEqual([
    { ...place, type: "answer", text: "I look." },
    { ...place, type: "doing", text: "running a command" },
    { ...place, type: "output", call: "c1", tool: "shell", text: "one\n" },
    { ...place, type: "reset" },
    { ...place, type: "answer", text: "Done." },
    { ...place, type: "over" },
  ]);
});

test("a try that begins again takes back what was shown, also what was held of it", () => {
  const { deltas, seen } = openRig();
  const watch = deltas.answer(scope);

  watch?.onTry()("Half a secret is sk-canary-0123");
  watch?.onTry()("456789/abc");
  watch?.end();

  const shown = seen.map((delta) => ("text" in delta ? delta.text : `|${delta.type}|`)).join("");
  expect(shown).toBe("Half a secret is |reset|456789/abc");
});

test("pieces of calls that do not run are dropped, and those that come faster than an agent sends them", () => {
  const { deltas, seen, pass } = openRig();
  deltas.calls(scope, [call], () => "running a command");

  deltas.output(scope, { callId: "other", text: "never" });
  for (let piece = 0; piece < 10_000; piece += 1) deltas.output(scope, { callId: "c1", text: `${piece}\n` });
  pass(1_000);
  deltas.output(scope, { callId: "c1", text: "later\n" });

  const outputs = seen.flatMap((delta) => (delta.type === "output" ? [delta.text] : []));
  expect(outputs).toHaveLength(17);
  expect(outputs.at(-1)).toBe("…\nlater\n");
  expect(outputs.join("")).not.toContain("never");
});

test("of what a program prints a secret is taken out, also one that comes in two pieces", () => {
  const { deltas, seen } = openRig();
  deltas.calls(scope, [call], () => "running a command");

  deltas.output(scope, { callId: "c1", text: `key=${secret.slice(0, 12)}` });
  deltas.output(scope, { callId: "c1", text: `${secret.slice(12)}\n` });
  deltas.over(scope);

  const outputs = seen.flatMap((delta) => (delta.type === "output" ? [delta.text] : []));
  expect(outputs).toEqual(["key=", "[redacted]\n"]);
});

test("who comes in the middle of an answer is shown the next one", () => {
  const { deltas, seen, watch } = openRig({ watched: false });
  const missed = deltas.answer(scope);

  watch();
  missed?.onTry()("in the middle");
  deltas.answer(scope)?.onTry()("next one");

  expect(seen.flatMap((delta) => ("text" in delta ? [delta.text] : [])).join("")).toMatch(/^next on/);
});

test("a watcher that fails is left out from then on, and neither the turn nor others notice", () => {
  const { bus, seen, log } = openRig();
  bus.watch({
    wants: () => true,
    take: () => {
      throw new Error("I am broken");
    },
  });

  bus.offer(answer("one"));
  bus.offer(answer("two"));

  expect(seen).toHaveLength(2);
  expect(log).toHaveLength(1);
  expect(bus.watchers).toBe(1);
});

test("what waits for a slow reader is bounded, joined where it can be, and says where something is missing", () => {
  const queue = new DeltaQueue();

  for (let piece = 0; piece < 100_000; piece += 1) queue.add(answer("ten chars "));
  queue.add({ group: "family", session: "s", turn: "t", type: "over" });
  const taken = queue.take();
  queue.add(answer("and on"));

  expect(taken.map(({ type }) => type)).toEqual(["answer", "missed", "over"]);
  expect(taken.map((delta) => ("text" in delta ? delta.text.length : 0))[0]).toBeLessThanOrEqual(64 * 1024);
  expect(queue.take()).toEqual([answer("and on")]);
});

test("deltas of many turns at once are no more than may wait", () => {
  const queue = new DeltaQueue();

  for (let turn = 0; turn < 10_000; turn += 1) {
    queue.add(answer("x", `t${turn}`));
    queue.add({ group: "family", session: "s", turn: `t${turn}`, type: "over" });
  }

  expect(queue.take().length).toBeLessThanOrEqual(520);
});

test("a reader takes deltas of its group at its own pace, until it leaves", async () => {
  const { bus } = openRig({ watched: false });
  const left = new AbortController();
  const read: (Delta | MissedDeltas)[] = [];
  const reading = (async () => {
    for await (const delta of bus.read("family", left.signal)) {
      read.push(delta);
      if (delta.type === "over") left.abort();
    }
  })();

  bus.offer({ ...answer("of others"), group: "other" });
  bus.offer(answer("a"));
  bus.offer(answer("b"));
  bus.offer({ group: "family", session: "s", turn: "t", type: "over" });
  await reading;

  expect(read).toEqual([answer("ab"), { group: "family", session: "s", turn: "t", type: "over" }]);
  expect(bus.watchers).toBe(0);
});
