/** A time in milliseconds as people say it: `40 seconds`, `one minute`, `90 minutes`. */
export function formatMinutes(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return `${Math.round(ms / 1000)} seconds`;
  return minutes === 1 ? "one minute" : `${minutes} minutes`;
}
