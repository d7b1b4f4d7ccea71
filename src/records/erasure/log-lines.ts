import { open } from "node:fs/promises";

const newline = 0x0a;
const blank = 0x20;

/** True when this log text must go; `key`: its name in the line. */
export type IsGone = (text: string, key: string, line: Readonly<Record<string, unknown>>) => boolean;

/**
 * Overwrites texts in a log of JSON lines in place, so that concurrent writers at its end lose nothing and the old
 * bytes are gone. Returns the number of lines.
 */
export async function overwriteLines(path: string, isGone: IsGone): Promise<number> {
  await using file = await open(path, "r+");
  const bytes = await file.readFile();
  let changed = 0;
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(newline, start);
    const end = found === -1 ? bytes.length : found;
    const line = bytes.subarray(start, end);
    const instead = rewritten(line.toString("utf8"), isGone);
    if (instead !== undefined) {
      changed += 1;
      await file.write(padded(instead, line.length), 0, line.length, start);
    }
    start = end + 1;
  }
  if (changed > 0) await file.sync();
  return changed;
}

/** True when a line holds such a text. */
export async function hasGoneLine(path: string, isGone: IsGone): Promise<boolean> {
  await using file = await open(path, "r");
  const lines = (await file.readFile("utf8")).split("\n");
  return lines.some((line) => rewritten(line, isGone) !== undefined);
}

function rewritten(line: string, isGone: IsGone): string | undefined {
  if (line.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return isGone(line, "", {}) ? "{}" : undefined;
  }
  const whole = typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  const after = JSON.stringify(without(value, "", (text, key) => isGone(text, key, whole)));
  return after === JSON.stringify(value) ? undefined : after;
}

function without(value: unknown, key: string, isGone: (text: string, key: string) => boolean): unknown {
  if (typeof value === "string") return value !== "" && isGone(value, key) ? "" : value;
  if (Array.isArray(value)) return value.map((item) => without(item, key, isGone));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, without(item, name, isGone)]));
}

/** Pads a JSON value with blanks to its old length; one that no longer fits becomes an empty line. */
function padded(text: string, length: number): Buffer {
  const bytes = Buffer.alloc(length, blank);
  const given = Buffer.from(text);
  if (given.length <= length) given.copy(bytes);
  else bytes.write("{}");
  return bytes;
}
