import { nearest } from "../text/nearest.ts";

/** Returns why a time zone is unusable; undefined when usable. */
export function timeZoneFault(zone: string): string | undefined {
  if (isTimeZone(zone)) return undefined;
  const near = nearestZone(zone);
  const hint = near === undefined ? "write an IANA name, such as Europe/Paris, or UTC" : `did you mean ${near}?`;
  return `there is no time zone "${zone}"; ${hint}`;
}

function isTimeZone(zone: string): boolean {
  // The default, with which most hosts start: asking loads all that is known of time zones.
  if (zone === "UTC") return true;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** By its whole name, or by its city: `Berlin`, `New York`. */
function nearestZone(zone: string): string | undefined {
  const zones = Intl.supportedValuesOf("timeZone");
  const wanted = zone.trim().replaceAll(" ", "_");
  const city = nearest(wanted.slice(wanted.lastIndexOf("/") + 1), zones.map(cityOf));
  return nearest(wanted, zones) ?? zones.find((known) => cityOf(known) === city);
}

function cityOf(zone: string): string {
  return zone.slice(zone.lastIndexOf("/") + 1);
}
