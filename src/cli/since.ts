import { InvalidArgumentError } from "commander";

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** For options that begin at a time: `10m`, `2h` or `1d` ago, or a date or time. Gives milliseconds since 1970. */
export function parseSince(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (unit !== undefined) return Date.now() - Number(count) * unitMs[unit as keyof typeof unitMs];
  const time = Date.parse(text);
  if (Number.isFinite(time)) return time;
  throw new InvalidArgumentError(
    "It must be as long ago as 10m, 2h or 1d, or a date or time such as 2026-01-31T12:00Z.",
  );
}
