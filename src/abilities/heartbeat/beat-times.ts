import type { HeartbeatSettings } from "../../domain/work/heartbeat.ts";
import type { ZoneClock } from "../../lib/time/zone-clock.ts";

/** A scheduled look, and the time until which it makes sense. */
export interface Beat {
  readonly at: number;
  readonly until: number;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** There is a beat each day; a change of the clocks leaves out one of them at most. */
const days = 8;

/**
 * The first beat after `now`. Within the hours of a day they are `everyMinutes` apart from the first one on, in real
 * time: where the clocks are changed at night, hours begin and end by what the clocks show then.
 */
export function nextBeat(settings: HeartbeatSettings, clock: ZoneClock, now: number): Beat {
  const today = Date.parse(`${clock.dayAt(now)}T00:00:00Z`);
  // Hours that began yesterday may not be over yet; a change of the clocks may leave a day without any.
  for (let day = -1; day < days; day += 1) {
    const beat = nextWithin(hoursOf(settings, clock, today + day * dayMs), settings.everyMinutes * minuteMs, now);
    if (beat) return beat;
  }
  // Clocks that never come to these hours: asked again then, and too late for a beat.
  return { at: now + days * dayMs, until: now };
}

interface Hours {
  readonly from: number;
  readonly until: number;
}

/** `day`: its midnight as if it were UTC. */
function hoursOf({ from, to }: HeartbeatSettings, clock: ZoneClock, day: number): Hours {
  // All day long, the last one is before midnight.
  if (from === undefined || to === undefined) {
    return { from: clock.whenItShows(day), until: clock.whenItShows(day + dayMs) - 1 };
  }
  const [first, last] = [minutesOf(from), minutesOf(to)];
  const end = last > first ? day : day + dayMs;
  return { from: clock.whenItShows(day + first * minuteMs), until: clock.whenItShows(end + last * minuteMs) };
}

function nextWithin({ from, until }: Hours, everyMs: number, now: number): Beat | undefined {
  const passed = Math.max(0, Math.floor((now - from) / everyMs) + 1);
  const at = from + passed * everyMs;
  return at <= until ? { at, until } : undefined;
}

/** `08:30` → 510 */
function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  return hours * 60 + minutes;
}
