/** The zone itself if it is one (an IANA name), otherwise UTC. Never throws. */
export function knownTimeZone(zone: string): string {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return "UTC";
  }
}

/** `2026-01-15 13:30` in a zone that `knownTimeZone` gave. */
export function localTime(at: number, zone: string): string {
  const format = new Intl.DateTimeFormat("en", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  const part = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return `${part.get("year")}-${part.get("month")}-${part.get("day")} ${part.get("hour")}:${part.get("minute")}`;
}
