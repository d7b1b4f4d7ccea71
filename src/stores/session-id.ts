import { createHash } from "node:crypto";

/**
 * Id of the session with this key in every store, also before it is there: 64 bits of a hash. A home has tens of sessions, and two with the
 * same id would be refused by the store, not mixed.
 */
export function sessionId(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 16);
}
