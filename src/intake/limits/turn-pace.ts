import type { Group } from "../../domain/chats/group.ts";
import type { StoredMessage } from "../../domain/chats/message.ts";
import type { PacedTurn, Turn } from "../../domain/turns/turn.ts";
import { backoffMs } from "../../lib/time/backoff.ts";
import { type Clock, clockSlackMs } from "../../lib/time/clock.ts";
import type { TurnStore } from "../../stores/contract/store.ts";
import type { PaceLimits } from "./limits.ts";

export interface TurnPaceOptions {
  readonly turns: Pick<TurnStore, "pace">;
  readonly limitsOf: (group: Pick<Group, "name" | "channel">) => PaceLimits;
  readonly clock: Clock;
}

/** Limits that pause the agent. */
export type PaceLimit = "loop" | "turns-per-hour";

/** Verdict on a message for the agent. Counted from `settle` on. */
export interface PaceVerdict {
  /** The limit that keeps it unanswered. */
  readonly held: PaceLimit | undefined;
  /** The limit was reached just now: the agent rests from here on. */
  readonly rest: Rest | undefined;
  /** True when it ends a pause: somebody outside of the loop speaks. */
  readonly wakes: boolean;
}

export interface Rest {
  readonly limit: PaceLimit;
  readonly allowed: number;
  readonly ms: number;
  /** Senders in the loop. */
  readonly senders: ReadonlySet<string>;
}

interface Resting extends Rest {
  /** On the monotonic clock. */
  readonly until: number;
}

interface Pace {
  /** Those of the last hour, oldest first, by id. */
  readonly turns: Map<string, PacedTurn>;
  /** Number of turns needed by the limits. */
  most: number;
  readonly loaded: Promise<void>;
  resting: Resting | undefined;
  /** Start of the loop: earlier turns came before another sender. */
  loopFrom: number;
  rests: number;
  lastRestAt: number;
}

/**
 * A message that comes later than this after a turn was not caused by its answer, nor one that came so long before its
 * end. Programs that do not wait for answers come in between.
 */
const loopPauseMs = 5_000;
/** With more people than this it is a lively chat. */
const loopSenders = 3;
const hourMs = 3_600_000;
const restBackoff = { firstMs: 60_000, longestMs: 30 * 60_000 };

/**
 * Sees that an agent is not kept at work by programs: bots that answer each other's answers, and floods of messages
 * that each make a turn. Where a limit is reached, the agent rests: what is said to it is kept as context. Turns are
 * remembered in memory, read from the store once for each group; a rest itself does not outlive the process.
 */
export class TurnPace {
  readonly #options: TurnPaceOptions;
  readonly #groups = new Map<string, Pace>();

  constructor(options: TurnPaceOptions) {
    this.#options = options;
  }

  /** A turn has begun, or resumed, with these messages. */
  began({ id, group, startedAt }: Turn, messages: readonly StoredMessage[]): void {
    const all = new Set(messages.map(({ sender }) => sender.id));
    const firstAt = messages[0]?.receivedAt;
    this.#whenLoaded(group, ({ turns, most }) => {
      if (turns.has(id)) return;
      turns.set(id, { id, startedAt, endedAt: undefined, firstAt, senders: [...all].slice(0, loopSenders + 1) });
      const [oldest] = turns.keys();
      if (turns.size > most && oldest !== undefined) turns.delete(oldest);
    });
  }

  ended({ id, group }: Turn): void {
    const endedAt = this.#options.clock.now();
    this.#whenLoaded(group, ({ turns }) => {
      const turn = turns.get(id);
      if (turn) turns.set(id, { ...turn, endedAt });
    });
  }

  /** Judges whether this sender's message may be answered now. Rejects when the store cannot be read. */
  async judge(group: Group, sender: string): Promise<PaceVerdict> {
    const limits = this.#options.limitsOf(group);
    if (limits.turnsPerHour === 0 && limits.loopTurns === 0) return free;
    const pace = this.#groups.get(group.name) ?? this.#open(group.name, limits);
    await pace.loaded;
    pace.most = Math.max(pace.most, mostTurns(limits));
    const { clock } = this.#options;
    forgetOld(pace, clock.now());
    const { resting } = pace;
    if (resting && clock.monotonic() < resting.until) {
      const wakes = resting.limit === "loop" && !resting.senders.has(sender);
      return wakes ? { ...free, wakes } : { ...free, held: resting.limit };
    }
    const rest = this.#tooMany(pace, limits) ?? this.#loop(pace, limits, sender);
    return rest ? { held: rest.limit, rest, wakes: false } : free;
  }

  /** The message was stored as the verdict says. */
  settle(group: Group, verdict: PaceVerdict): void {
    const pace = this.#groups.get(group.name);
    if (!pace) return;
    const { clock } = this.#options;
    if (verdict.wakes) {
      pace.resting = undefined;
      pace.loopFrom = clock.now();
    }
    if (!verdict.rest) return;
    const now = clock.monotonic();
    pace.rests = this.#restsInARow(pace) + 1;
    pace.lastRestAt = now;
    pace.resting = { ...verdict.rest, until: now + verdict.rest.ms };
  }

  /** Limit that pauses the group's agent, and the remaining milliseconds. */
  resting(group: string): { readonly limit: PaceLimit; readonly ms: number } | undefined {
    const resting = this.#groups.get(group)?.resting;
    const ms = (resting?.until ?? 0) - this.#options.clock.monotonic();
    return resting && ms > 0 ? { limit: resting.limit, ms } : undefined;
  }

  #open(group: string, limits: PaceLimits): Pace {
    const turns = new Map<string, PacedTurn>();
    const since = this.#options.clock.now() - hourMs;
    const most = mostTurns(limits);
    const window = { since, limit: most, detailed: limits.loopTurns + 1 };
    const load = async (): Promise<void> => {
      for (const turn of await this.#options.turns.pace(group, window)) turns.set(turn.id, turn);
    };
    const loaded = load().catch((error: unknown) => {
      this.#groups.delete(group);
      throw error;
    });
    const pace: Pace = { turns, most, loaded, resting: undefined, loopFrom: 0, rests: 0, lastRestAt: -hourMs };
    this.#groups.set(group, pace);
    return pace;
  }

  /** Before anybody has asked about a group, the store alone knows of its turns. */
  #whenLoaded(group: string, change: (pace: Pace) => void): void {
    const pace = this.#groups.get(group);
    pace?.loaded.then(() => change(pace)).catch(() => undefined);
  }

  #restsInARow({ rests, lastRestAt }: Pace): number {
    return this.#options.clock.monotonic() - lastRestAt < hourMs ? rests : 0;
  }

  /** Doubled each time within an hour. */
  #restMs(pace: Pace): number {
    return backoffMs(restBackoff, this.#restsInARow(pace) + 1);
  }

  #tooMany(pace: Pace, { turnsPerHour: allowed }: PaceLimits): Rest | undefined {
    if (allowed === 0 || pace.turns.size < allowed) return undefined;
    const inTheWay = [...pace.turns.values()].at(-allowed);
    const untilFree = (inTheWay?.startedAt ?? 0) + hourMs - this.#options.clock.now();
    return { limit: "turns-per-hour", allowed, ms: Math.max(this.#restMs(pace), untilFree), senders: new Set() };
  }

  #loop(pace: Pace, { loopTurns: allowed }: PaceLimits, sender: string): Rest | undefined {
    if (allowed === 0) return undefined;
    const newest = [...pace.turns.values()].slice(-(allowed + 1));
    const all = newest.filter(({ firstAt }) => firstAt !== undefined && firstAt > pace.loopFrom);
    const running = all.at(-1)?.endedAt === undefined ? all.at(-1) : undefined;
    const chain = all.filter(({ endedAt }) => endedAt !== undefined).slice(-allowed);
    const senders = new Set(chain.flatMap((turn) => turn.senders));
    if (chain.length < allowed || senders.size > loopSenders || !senders.has(sender)) return undefined;
    const beginnings = [
      ...chain.slice(1).map(({ firstAt = 0 }) => firstAt),
      running?.firstAt ?? this.#options.clock.now(),
    ];
    const isLoop = beginnings.every((at, index) => Math.abs(at - (chain[index]?.endedAt ?? 0)) <= loopPauseMs);
    return isLoop ? { limit: "loop", allowed, ms: this.#restMs(pace), senders } : undefined;
  }
}

/** Number of turns that must be remembered for these limits. */
function mostTurns({ turnsPerHour, loopTurns }: PaceLimits): number {
  return Math.max(turnsPerHour, loopTurns + 1);
}

const free: PaceVerdict = { held: undefined, rest: undefined, wakes: false };

/** Those that began in the future did so before the clock was set back. */
function forgetOld({ turns }: Pace, now: number): void {
  for (const { id, startedAt } of turns.values()) {
    if (startedAt <= now - hourMs || startedAt > now + clockSlackMs) turns.delete(id);
  }
}
