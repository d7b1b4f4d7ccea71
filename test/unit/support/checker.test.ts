import * as fc from "fast-check";
import { expect, test } from "vitest";

import { findViolations } from "../../support/checker.ts";
import type { History, ListedTurn, ReceivedReply } from "../../support/checker.ts";

/**
 * Histories in which nothing went wrong: messages of some groups, answered in order, some together, by replies and
 * notices.
 */
const goodHistory: fc.Arbitrary<History> = fc
  .record({
    counts: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
    together: fc.infiniteStream(fc.integer({ min: 1, max: 3 })),
    kinds: fc.infiniteStream(fc.constantFrom("reply", "notice")),
  })
  .map(({ counts, together, kinds }) => {
    const sent = counts.flatMap((count, group) =>
      Array.from({ length: count }, (_, index) => ({ group: `g${group}`, id: `${group}-${index}`, accepted: true })),
    );
    const replies: ReceivedReply[] = [];
    const turns: ListedTurn[] = [];
    for (const [group, own] of Map.groupBy(sent, (message) => message.group)) {
      for (let next = 0, time = 0; next < own.length; time += 10) {
        const inReplyTo = own.slice(next, next + Number(together.next().value)).map(({ id }) => id);
        next += inReplyTo.length;
        const kind = String(kinds.next().value);
        replies.push({ seq: replies.length + 1, group, kind, inReplyTo });
        turns.push({ id: `turn-${replies.length}`, group, state: "done", startedAt: time, endedAt: time + 10 });
      }
    }
    return { sent, replies, turns, audit: { ok: true, detail: "" }, containersLeft: [] };
  });

function turn(id: string, group: string, startedAt: number, endedAt?: number): ListedTurn {
  return { id, group, state: endedAt === undefined ? "running" : "done", startedAt, endedAt };
}

/** A good history and a number that picks what is done to it. */
const spoiled = fc.tuple(goodHistory, fc.nat());

function at<Item>(items: readonly Item[], number: number): Item {
  const item = items[number % items.length];
  if (item === undefined) throw new Error("there is none");
  return item;
}

function changeReply(history: History, seq: number, change: (reply: ReceivedReply) => ReceivedReply[]): History {
  return { ...history, replies: history.replies.flatMap((reply) => (reply.seq === seq ? change(reply) : [reply])) };
}

test("a history in which nothing went wrong has no violations", () => {
  fc.assert(
    fc.property(goodHistory, (history) => {
      expect(findViolations(history)).toEqual([]);
    }),
  );
});

test("a message that is in no reply is lost", () => {
  fc.assert(
    fc.property(spoiled, ([history, number]) => {
      const lost = at(history.sent, number);
      const replies = history.replies.map((reply) => ({
        ...reply,
        inReplyTo: reply.inReplyTo.filter((id) => id !== lost.id),
      }));

      expect(findViolations({ ...history, replies })).toEqual([
        expect.stringContaining(`${lost.id} of ${lost.group} is lost`),
      ]);
    }),
  );
});

test("a message that is in two replies, or twice in one, is answered twice", () => {
  fc.assert(
    fc.property(spoiled, ([history, number]) => {
      const { seq } = at(history.replies, number);
      const again = { ...at(history.replies, number), seq: history.replies.length + 1 };
      const inTwo = { ...history, replies: [...history.replies, again] };
      const inOne = changeReply(history, seq, (reply) => [
        { ...reply, inReplyTo: [...reply.inReplyTo, ...reply.inReplyTo] },
      ]);

      for (const bad of [inTwo, inOne]) expect(findViolations(bad).join("\n")).toContain("answered 2 times");
    }),
  );
});

test("an answer to what was never sent, was sent to another group, or was not accepted is a violation", () => {
  fc.assert(
    fc.property(spoiled, ([history, number]) => {
      const { seq } = at(history.replies, number);
      const invented = changeReply(history, seq, (reply) => [
        { ...reply, inReplyTo: [...reply.inReplyTo, "invented"] },
      ]);
      const elsewhere = changeReply(history, seq, (reply) => [{ ...reply, group: "elsewhere" }]);
      const refused = at(history.sent, number);
      const unaccepted = {
        ...history,
        sent: history.sent.map((message) => (message === refused ? { ...message, accepted: false } : message)),
      };

      expect(findViolations(invented).join("\n")).toContain('"invented"] was never sent');
      expect(findViolations(elsewhere).join("\n")).toContain("was never sent");
      expect(findViolations(unaccepted)).toEqual([expect.stringContaining("was not accepted and is answered")]);
    }),
  );
});

test("two answers of a group in the wrong order are a violation", () => {
  fc.assert(
    fc.property(spoiled, ([history, number]) => {
      const groups = [...Map.groupBy(history.replies, (reply) => reply.group).values()].filter((own) => own.length > 1);
      fc.pre(groups.length > 0);
      const [first, second] = at(groups, number);
      if (!first || !second) return;
      const swapped = changeReply(
        changeReply(history, first.seq, (reply) => [{ ...reply, inReplyTo: second.inReplyTo }]),
        second.seq,
        (reply) => [{ ...reply, inReplyTo: first.inReplyTo }],
      );

      expect(findViolations(swapped).join("\n")).toContain("which came later");
    }),
  );
});

test("a message that was not accepted need not be answered", () => {
  const history: History = {
    sent: [{ group: "one", id: "1", accepted: false }],
    replies: [],
    turns: [],
    audit: { ok: true, detail: "" },
    containersLeft: [],
  };

  expect(findViolations(history)).toEqual([]);
});

test("turns of a group that overlap or have not ended are violations; those of two groups may overlap", () => {
  const turns = [turn("a", "one", 0, 20), turn("b", "one", 19, 30), turn("c", "two", 5, 25), turn("d", "two", 25)];

  const violations = findViolations({
    sent: [],
    replies: [],
    turns,
    audit: { ok: true, detail: "" },
    containersLeft: [],
  });

  expect(violations).toEqual(["turn d of two has not ended: it is running", "turns a and b of one overlap"]);
});

test("a reply that comes again, an audit log that does not verify and a container that is left are violations", () => {
  fc.assert(
    fc.property(spoiled, ([history, number]) => {
      const twice = changeReply(history, at(history.replies, number).seq, (reply) => [
        reply,
        { ...reply, inReplyTo: [] },
      ]);
      const rest = { audit: { ok: false, detail: "record 7" }, containersLeft: ["f00"] };

      expect(findViolations(twice)).toHaveLength(1);
      expect(findViolations({ ...history, ...rest })).toEqual([
        "the audit log does not verify: record 7",
        "container f00 is left over",
      ]);
    }),
  );
});
