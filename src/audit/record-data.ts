import { createHash } from "node:crypto";

import { escapeJson, shorten } from "../lib/visible.ts";
import type { AuditEntry } from "./types.ts";

const limits = { stringChars: 2_000, nameChars: 256, items: 64, depth: 6, dataBytes: 12 * 1024 };

/** The part of a record that its author decides about, shortened to the limits, as JSON that is safe on a terminal. */
export interface EntryFields {
  readonly type: string;
  readonly group: string | null;
  readonly session: string | null;
  readonly turn: string | null;
  readonly actor: string;
  readonly data: unknown;
}

/** `redact` takes secrets out of every string before it is shortened. Never throws, whatever `data` holds. */
export function entryFields(entry: AuditEntry, redact: (text: string) => string): EntryFields {
  const name = (text: string): string => shorten(redact(text), limits.nameChars);
  return {
    type: entry.type,
    group: entry.group === undefined ? null : name(entry.group),
    session: entry.session === undefined ? null : name(entry.session),
    turn: entry.turn === undefined ? null : name(entry.turn),
    actor: name(entry.actor),
    data: fit(capped(entry.data, redact, limits.depth)),
  };
}

/** One line of JSON in ASCII and plain letters: nothing in it can end the line or steer a terminal. */
export function toLine(fields: Readonly<Record<string, unknown>>): string {
  return escapeJson(JSON.stringify(fields));
}

function capped(value: unknown, redact: (text: string) => string, depth: number): unknown {
  if (typeof value === "string") return shorten(redact(value).toWellFormed(), limits.stringChars);
  if (typeof value === "object" && value !== null) return cappedObject(value, redact, depth);
  if (typeof value === "bigint") return String(value);
  if (typeof value === "function" || typeof value === "symbol") return `(${typeof value})`;
  return value;
}

function cappedObject(value: object, redact: (text: string) => string, depth: number): unknown {
  if (depth === 0) return "(too deep)";
  if (Array.isArray(value)) {
    const kept = value.slice(0, limits.items).map((item) => capped(item, redact, depth - 1));
    return value.length > kept.length ? [...kept, `(${value.length - kept.length} more)`] : kept;
  }
  const entries = Object.entries(value);
  const kept = entries
    .slice(0, limits.items)
    .map(([key, item]) => [shorten(redact(key), limits.nameChars), capped(item, redact, depth - 1)]);
  if (entries.length > kept.length) kept.push(["(more)", entries.length - kept.length]);
  return Object.fromEntries(kept);
}

/** What is still too large is replaced by its length and hash. */
function fit(data: unknown): unknown {
  const json = toLine({ data });
  if (Buffer.byteLength(json) <= limits.dataBytes) return data;
  return { tooLarge: { bytes: Buffer.byteLength(json), sha256: createHash("sha256").update(json).digest("hex") } };
}
