import { createHash } from "node:crypto";

import * as z from "zod";

const optionalText = z.string().nullable();

/** SHA-256 in lower-case hexadecimal. */
export const hexHash = z.string().regex(/^[0-9a-f]{64}$/);

/** One line of the log, as docs/audit.md describes it. */
export const recordSchema = z.strictObject({
  v: z.literal(1),
  seq: z.int().min(1),
  ts: z.iso.datetime({ precision: 3 }),
  mono: z.int(),
  boot: z.string(),
  type: z.string(),
  group: optionalText,
  session: optionalText,
  turn: optionalText,
  actor: z.string(),
  data: z.record(z.string(), z.unknown()),
  prev: hexHash,
});

/**
 * A record as it stands in the log. `seq` counts from 1; `ts` is the host's clock (UTC), `mono` the milliseconds of the
 * process `boot` (monotonic, so a clock that was set back shows); `prev` is the hash of the record before.
 */
export type AuditRecord = z.infer<typeof recordSchema>;

/** The record in a line without its line feed; undefined when there is none. */
export function parseRecord(line: Buffer): AuditRecord | undefined {
  try {
    return recordSchema.parse(JSON.parse(line.toString("utf8")));
  } catch {
    return undefined;
  }
}

/** Hash of a record: over the exact bytes of its line, without the line feed. */
export function recordHash(line: Uint8Array): string {
  return createHash("sha256").update("crabpot-audit-v1\n").update(line).digest("hex");
}

/** `prev` of the first record in a home's log. */
export function genesisHash(instance: string): string {
  return createHash("sha256").update("crabpot-audit-v1-genesis\n").update(instance).digest("hex");
}
