import { InvalidArgumentError } from "commander";

const dayMs = 86_400_000;
const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: dayMs, w: 7 * dayMs } as const;

/**
 * For what is recorded with its time: `10m`, `2h`, `1d` or `1w` before now, or a date or time. Gives milliseconds since
 * 1970.
 */
export function parseMoment(text: string): number {
  const span = readSpan(text);
  const moment = span === undefined ? readDate(text) : Date.now() - span;
  if (moment !== undefined) return moment;
  throw new InvalidArgumentError("Write a span such as 10m, 2h or 1d, or a date or time such as 2026-01-31T12:00Z.");
}

function readSpan(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,4})([smhdw])$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(count) * unitMs[unit as keyof typeof unitMs];
}

/** Node reads more than ISO 8601, such as `7` as a month. */
function readDate(text: string): number | undefined {
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
