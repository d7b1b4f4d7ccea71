import { LRUCache } from "lru-cache";

import type { ModelAnswer } from "../../domain/turns/model.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { TurnScope } from "../turn-scope.ts";

/** Turns that are looked at together. */
const turnsSeen = 20;
/** Minimum share of the last prompt that should come from the vendor's cache. */
const leastShare = 0.8;
/** Shorter prompts are not cached by most vendors. */
const leastTokens = 1_024;
/** Figures are kept in memory only, of those used last. */
const sessionsSeen = 512;

/** An answer that a model gave, and what was known of its vendor's cache before. */
export interface AnsweredCall {
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly answer: ModelAnswer;
  /** Lifetime of the vendor's cache. */
  readonly cacheMs: number;
  /** The prompt did not begin as the one before it did, on purpose. */
  readonly isRewritten: boolean;
  /** The step that the prompt began with: of a conversation that was made shorter it is another one. */
  readonly windowStart: number;
}

interface Watched {
  readonly conversation: number;
  readonly model: string;
  /** The call before this one. */
  readonly last: { readonly at: number; readonly inputTokens: number; readonly windowStart: number } | undefined;
  readonly turns: readonly { readonly turn: string; readonly expected: number; readonly cached: number }[];
  /** It has ever read anything from a cache; a server that has none is not to blame. */
  readonly hasCache: boolean;
  readonly isTold: boolean;
}

/**
 * Notices when what a vendor has just seen is not read from its cache: something at the beginning of the prompts
 * changes then, and costs ten times as much.
 */
export class CacheWatch {
  readonly #publish: Publish<"cache.missed">;
  readonly #sessions = new LRUCache<string, Watched>({ max: sessionsSeen });

  constructor(publish: Publish<"cache.missed">) {
    this.#publish = publish;
  }

  /** `isKnownToCache`: there is a price for what this model reads from its cache. */
  async note(
    { session, turn, group }: Pick<TurnScope, "session" | "turn" | "group">,
    call: AnsweredCall,
    isKnownToCache: boolean,
  ): Promise<void> {
    const { usage, model } = call.answer;
    if (usage.isEstimate) return;
    const before = this.#before(session.id, { conversation: turn.conversation, model });
    const seen = expectedOf(before.last, call);
    const turns = seen ? add(before.turns, { turn: turn.id, ...seen }) : before.turns;
    const percent = percentOf(turns);
    const hasCache = isKnownToCache || before.hasCache || usage.cachedInputTokens > 0;
    const isTold = hasCache && turns.length === turnsSeen && percent < leastShare * 100;
    const last = { at: call.answeredAt, inputTokens: usage.inputTokens, windowStart: call.windowStart };
    this.#sessions.set(session.id, { conversation: turn.conversation, model, last, turns, hasCache, isTold });
    if (!isTold || before.isTold) return;
    const data = { session: session.id, model, turns: turns.length, percent };
    await this.#publish({ type: "cache.missed", group: group.name, turn: turn.id, actor: "host", data });
  }

  /** Previous prompt; none for another conversation or model. */
  #before(session: string, { conversation, model }: Pick<Watched, "conversation" | "model">): Watched {
    const known = this.#sessions.get(session);
    if (known?.conversation === conversation && known.model === model) return known;
    return { conversation, model, last: undefined, turns: [], hasCache: false, isTold: false };
  }
}

/** Expected and real cached tokens of a call; undefined when none are expected. */
function expectedOf(
  last: Watched["last"],
  { askedAt, answer: { usage }, cacheMs, isRewritten, windowStart }: AnsweredCall,
): { readonly expected: number; readonly cached: number } | undefined {
  if (
    !last ||
    isRewritten ||
    last.windowStart !== windowStart ||
    askedAt - last.at > cacheMs ||
    last.inputTokens < leastTokens
  )
    return undefined;
  const expected = Math.min(last.inputTokens, usage.inputTokens);
  return { expected, cached: Math.min(usage.cachedInputTokens, expected) };
}

function add(turns: Watched["turns"], seen: Watched["turns"][number]): Watched["turns"] {
  const last = turns.at(-1);
  if (last?.turn !== seen.turn) return [...turns, seen].slice(-turnsSeen);
  const sum = { ...seen, expected: last.expected + seen.expected, cached: last.cached + seen.cached };
  return [...turns.slice(0, -1), sum];
}

function percentOf(turns: Watched["turns"]): number {
  const [expected, cached] = turns.reduce(([all, some], one) => [all + one.expected, some + one.cached], [0, 0]);
  return expected === 0 ? 100 : Math.floor((cached * 100) / expected);
}
