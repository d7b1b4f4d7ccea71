const dayMs = 24 * 60 * 60 * 1000;

/** The day in UTC, such as `2026-01-15`, of a time in milliseconds since 1970. */
export function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** When the day in UTC ends, milliseconds since 1970. */
export function utcDayEnd(at: number): number {
  return (Math.floor(at / dayMs) + 1) * dayMs;
}

/** Seconds until then, rounded up, so at least 1. */
export function secondsLeftInUtcDay(at: number): number {
  return Math.ceil((utcDayEnd(at) - at) / 1000);
}
