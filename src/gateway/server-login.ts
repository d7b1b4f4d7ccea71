import { createHash, timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";

import type { Clock } from "../lib/clock.ts";

const windowMs = 60_000;
const failuresPerWindow = 20;
/** Addresses that are remembered; beyond that the oldest is forgotten. */
const addresses = 10_000;

type Login =
  | { readonly verdict: "granted" }
  | { readonly verdict: "refused" }
  | { readonly verdict: "blocked"; readonly retryAfterS: number };

/** Judges the `Authorization` header of a request. */
export type CheckLogin = (header: string | undefined, address: string, connection: Socket) => Login;

/**
 * Compares bearer tokens in constant time, over hashes. An address that failed 20 times within a minute is refused
 * unheard for the rest of that minute, so that guessing is slow; connections that have shown the right token before are
 * judged all the same, so that a stranger behind the same address cannot lock their owner out.
 */
export function createLoginCheck(token: string, clock: Clock): CheckLogin {
  const expected = digest(token);
  const failures = new Map<string, { count: number; readonly since: number }>();
  const known = new WeakSet<Socket>();

  return (header, address, connection) => {
    const now = clock.monotonic();
    const failed = failures.get(address);
    const remainingMs = failed ? failed.since + windowMs - now : 0;
    if (failed && remainingMs <= 0) failures.delete(address);
    else if (failed && failed.count >= failuresPerWindow && !known.has(connection)) {
      return { verdict: "blocked", retryAfterS: Math.ceil(remainingMs / 1000) };
    }
    const given = /^Bearer (\S+)$/i.exec(header ?? "")?.[1] ?? "";
    if (timingSafeEqual(digest(given), expected)) {
      known.add(connection);
      return { verdict: "granted" };
    }
    countFailure(failures, address, now);
    return { verdict: "refused" };
  };
}

function countFailure(
  failures: Map<string, { count: number; readonly since: number }>,
  address: string,
  now: number,
): void {
  const failed = failures.get(address);
  if (failed) {
    failed.count += 1;
    return;
  }
  failures.set(address, { count: 1, since: now });
  const [oldest] = failures.keys();
  if (failures.size > addresses && oldest !== undefined) failures.delete(oldest);
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
