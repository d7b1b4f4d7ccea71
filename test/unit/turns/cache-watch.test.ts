import { expect, test } from "vitest";

import type { ModelUsage } from "../../../src/domain/turns/model.ts";
import type { NewEvent } from "../../../src/domain/events/event.ts";
import { CacheWatch } from "../../../src/turns/conversation/cache-watch.ts";

const minute = 60_000;

interface Call {
  readonly turn: number;
  readonly at: number;
  readonly usage: ModelUsage;
  readonly isRewritten?: boolean;
  readonly windowStart?: number;
  readonly isKnownToCache?: boolean;
}

/** Events about these calls of a session, in order. */
async function told(calls: readonly Call[]): Promise<NewEvent[]> {
  const events: NewEvent[] = [];
  const watch = new CacheWatch(async (event) => void events.push(event));
  for (const { turn, at, usage, isRewritten = false, windowStart = 0, isKnownToCache = true } of calls) {
    const scope = { session: { id: "s" }, turn: { id: `t${turn}`, conversation: 1 }, group: { name: "family" } };
    const answer = { text: "", toolCalls: [], stop: "end", usage, model: "claude/small" } as const;
    const call = { askedAt: at, answeredAt: at + 1_000, answer, cacheMs: 5 * minute, isRewritten, windowStart };
    await watch.note(scope as Parameters<CacheWatch["note"]>[0], call, isKnownToCache);
  }
  return events;
}

function turns(count: number, cachedShare: number, more: Partial<Call> = {}, everyMs = minute): Call[] {
  return Array.from({ length: count }, (_, turn) => {
    const inputTokens = 10_000 + turn * 100;
    return {
      turn,
      at: turn * everyMs,
      usage: { inputTokens, cachedInputTokens: inputTokens * cachedShare, outputTokens: 1 },
      ...more,
    };
  });
}

test("a session of which too little is read from the cache over 20 turns is told about, once", async () => {
  const events = await told(turns(60, 0.5));

  expect(events).toEqual([
    {
      type: "cache.missed",
      group: "family",
      turn: "t20",
      actor: "host",
      data: { session: "s", model: "claude/small", turns: 20, percent: 50 },
    },
  ]);
});

test.each([
  ["enough is read", turns(60, 0.9)],
  ["19 turns are not enough", turns(20, 0)],
  ["the cache is cold each time", turns(60, 0, {}, 6 * minute)],
  ["the prompts were rewritten on purpose", turns(60, 0, { isRewritten: true })],
  ["the server has no cache, as far as anybody knows", turns(60, 0, { isKnownToCache: false })],
  [
    "the prompts are too short to be cached",
    turns(60, 0, { usage: { inputTokens: 900, cachedInputTokens: 0, outputTokens: 1 } }),
  ],
  [
    "the figures are our own",
    turns(60, 0, { usage: { inputTokens: 9_000, cachedInputTokens: 0, outputTokens: 1, isEstimate: true } }),
  ],
])("nothing is told when %s", async (_why, calls) => {
  expect(await told(calls)).toEqual([]);
});

test("after it was good again it is told anew", async () => {
  const good = turns(90, 1).slice(40, 80);
  const bad = turns(120, 0.1).slice(80);

  expect(await told([...turns(40, 0.1), ...good, ...bad])).toHaveLength(2);
});
