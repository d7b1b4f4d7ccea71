import { createHash, timingSafeEqual } from "node:crypto";
import { isIPv6, type Socket } from "node:net";

import type { Clock } from "../../lib/time/clock.ts";
import { RateLimiter } from "../../lib/time/rate-limiter.ts";

const failuresPerMinute = 20;

type Login =
  | { readonly verdict: "granted" }
  | { readonly verdict: "refused" }
  | { readonly verdict: "blocked"; readonly retryAfterS: number };

/** Judges the `Authorization` header of a request. */
export type CheckLogin = (header: string | undefined, address: string, connection: Socket) => Login;

/**
 * Compares bearer tokens in constant time, over hashes. An address (of IPv6: its /64, as whoever has one address of it
 * has them all) that failed too often, 20 times at once, is refused unheard until it might fail as often again, a
 * minute later, so that guessing is slow; connections that have shown the right token before are judged all the same,
 * so that a stranger behind the same address cannot lock their owner out.
 */
export function createLoginCheck(token: string, clock: Clock): CheckLogin {
  const expected = digest(token);
  const limit = { count: failuresPerMinute, periodMs: 60_000, reopenAt: failuresPerMinute };
  const failures = new RateLimiter(limit);
  const known = new WeakSet<Socket>();

  return (header, address, connection) => {
    const now = clock.monotonic();
    const network = networkOf(address);
    const waitMs = known.has(connection) ? 0 : failures.waitMs(now, network);
    if (waitMs > 0) return { verdict: "blocked", retryAfterS: Math.ceil(waitMs / 1000) };
    const given = /^Bearer (\S+)$/i.exec(header ?? "")?.[1] ?? "";
    if (timingSafeEqual(digest(given), expected)) {
      known.add(connection);
      return { verdict: "granted" };
    }
    failures.count(now, network);
    return { verdict: "refused" };
  };
}

/** An IPv4 address as it is, also when it is written as an IPv6 one; of other IPv6 addresses the first 64 bits. */
function networkOf(address: string): string {
  const [bare = ""] = address.split("%");
  if (!isIPv6(bare)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = bare.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const left = tail === undefined ? 0 : 8 - before.length - after.length;
  const words = [...before, ...Array.from({ length: left }, () => "0"), ...after];
  return words
    .slice(0, 4)
    .map((word) => Number.parseInt(word, 16).toString(16))
    .join(":");
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
