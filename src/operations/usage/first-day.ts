import { utcDay } from "../../lib/time/utc-day.ts";

const dayMs = 86_400_000;

/** True for whole days, such as `7d` or `2w`, and for dates since 1970, such as `2026-01-15`. */
export function isFirstDay(text: string): boolean {
  return daysIn(text) !== undefined || (/^\d{4}-\d{2}-\d{2}/.test(text) && Date.parse(text) >= 0);
}

/** The first of these days in UTC. Today counts: `1d` is today, `7d` and `1w` are today and the six days before it. */
export function firstDay(text: string, now: number): string {
  const days = daysIn(text);
  return utcDay(days === undefined ? Date.parse(text) : now - (days - 1) * dayMs);
}

function daysIn(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,3})([dw])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (unit === "w" ? 7 : 1);
}
