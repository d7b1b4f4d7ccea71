import { LRUCache } from "lru-cache";

import type { Timing } from "../../domain/work/task.ts";
import { leastGapMs } from "../../domain/work/task.ts";
import { AppError } from "../../lib/app-error.ts";
import { zoneClock } from "../../lib/time/zone-clock.ts";
import { type NextShown, nextCron, parseCron } from "./cron.ts";

/** Requested timing: exactly one of these. */
export interface WantedTiming {
  /** ISO 8601; without an offset in the task's time zone. */
  readonly at?: string | undefined;
  /** Interval: `1m`, `2h`, `1d`. */
  readonly every?: string | undefined;
  /** Cron expression of five fields. */
  readonly cron?: string | undefined;
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const longestMs = 366 * 86_400_000;
/** Tolerance for "now". */
const slackMs = 20_000;

/** Throws `bad_input` for what cannot be read, lies in the past or would come too often. */
export async function readTiming(wanted: WantedTiming, zone: string, now: number): Promise<Timing> {
  const { at, every, cron } = wanted;
  const given = [at, every, cron].filter((one) => one !== undefined).length;
  if (given !== 1)
    throw new AppError("bad_input", `A task needs exactly one of at, every and cron; ${given} were given.`);
  if (at !== undefined) return { kind: "at", at: readAt(at, zone, now) };
  if (every !== undefined) return { kind: "every", everyMs: readEvery(every), since: now };
  const pattern = (cron ?? "").trim().replaceAll(/\s+/g, " ");
  const timing = { kind: "cron", cron: pattern } as const;
  if ((await nextDue(timing, zone, now)) === undefined)
    throw new AppError("bad_input", `The cron pattern "${pattern}" never comes.`, { fix: "check day and month" });
  return timing;
}

/** Next due time after this moment; undefined: never. */
export async function nextDue(timing: Timing, zone: string, after: number): Promise<number | undefined> {
  return (await dueTimes(timing, zone))(after);
}

/** The same for many moments. */
export async function dueTimes(timing: Timing, zone: string): Promise<(after: number) => number | undefined> {
  if (timing.kind === "at") return (after) => (timing.at > after ? timing.at : undefined);
  if (timing.kind === "every") {
    const { everyMs, since } = timing;
    return (after) => since + Math.max(1, Math.floor((after - since) / everyMs) + 1) * everyMs;
  }
  const pattern = await cronOf(timing.cron);
  const clock = zoneClock(zone);
  return (after) => nextCron(pattern, clock, after);
}

const kept = 256;
const patterns = new LRUCache<string, NextShown>({ max: kept });

async function cronOf(pattern: string): Promise<NextShown> {
  const known = patterns.get(pattern) ?? (await parseCron(pattern));
  patterns.set(pattern, known);
  return known;
}

const isoTime = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,3})?)?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i;

function readAt(text: string, zone: string, now: number): number {
  const at = parseAt(text.trim(), zone);
  if (at === undefined) {
    throw new AppError("bad_input", `"${text}" is no time.`, {
      fix: "write it as 2026-01-15T09:00:00, by the clock of the task's time zone, or with an offset such as Z or +02:00",
    });
  }
  if (at < now - slackMs) throw new AppError("bad_input", `"${text}" is in the past.`);
  return at;
}

function parseAt(text: string, zone: string): number | undefined {
  const [, day, minutes = "00:00", seconds = ":00", offset] = isoTime.exec(text) ?? [];
  if (day === undefined) return undefined;
  const shown = Date.parse(`${day}T${minutes}${seconds}Z`);
  // A day that the month does not have is moved into the next one by some parsers.
  if (Number.isNaN(shown) || !new Date(shown).toISOString().startsWith(day)) return undefined;
  if (offset === undefined) return zoneClock(zone).firstAfterSkipped(shown);
  const moment = Date.parse(`${day}T${minutes}${seconds}${withColon(offset)}`);
  return Number.isNaN(moment) ? undefined : moment;
}

function withColon(offset: string): string {
  return offset.length === 5 ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset.toUpperCase();
}

function readEvery(text: string): number {
  const [, count = "", unit = ""] = /^([1-9]\d{0,5})\s*([mhd])$/.exec(text.trim()) ?? [];
  const everyMs = Number(count) * (unitMs[unit] ?? Number.NaN);
  if (everyMs >= leastGapMs && everyMs <= longestMs) return everyMs;
  throw new AppError("bad_input", `"${text}" is no span of time for a task.`, {
    fix: 'write minutes, hours or days, such as "1m", "2h" or "1d": at least one minute, at most 366 days',
  });
}
