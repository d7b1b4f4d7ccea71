import { createHash } from "node:crypto";

import { escapeJson, shorten } from "./visible.ts";

const limits = { stringChars: 2_000, nameChars: 256, items: 64, depth: 6, dataBytes: 12 * 1024 };

/**
 * Data of bounded size for a log: long strings, deep and large values are shortened, with a note of how much is
 * missing. `redact` takes secrets out of every string before it is shortened. Never throws, whatever `data` holds.
 */
export function boundedData(data: unknown, redact: (text: string) => string): unknown {
  return fit(capped(data, redact, limits.depth));
}

/** The same for a name. */
export function boundedName(text: string, redact: (text: string) => string): string {
  return shorten(redact(text), limits.nameChars);
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

/** Replaces what is still too large by its length and hash. */
function fit(data: unknown): unknown {
  const json = toLine({ data });
  if (Buffer.byteLength(json) <= limits.dataBytes) return data;
  return { tooLarge: { bytes: Buffer.byteLength(json), sha256: createHash("sha256").update(json).digest("hex") } };
}
