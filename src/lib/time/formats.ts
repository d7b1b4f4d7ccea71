/** `2026-01-15 13:30:05` in UTC; empty for a time that is not known. */
export function formatTime(ms: number | undefined): string {
  return ms === undefined ? "" : new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}

/** `12 ms`, `3.4 s`, `5 min`, `2 h 10 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
