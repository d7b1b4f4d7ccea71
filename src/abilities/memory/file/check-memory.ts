import { origins } from "../../../domain/people/origin.ts";
import { AppError } from "../../../lib/app-error.ts";
import { categoryPattern } from "../item.ts";
import type { NewMemory } from "../../../processes/memory-schemas.ts";

const mostTextBytes = 1024 * 1024;
const mostNameChars = 256;
const mostSources = 64;
/** The years 0 to 9999. */
const earliest = -62_167_219_200_000;
const latest = 253_402_300_799_999;

/** Throws AppError `bad_input`, or `too_large`, for what cannot be kept. */
export function checkMemory(memory: NewMemory): void {
  const fault = faultOf(memory);
  if (fault !== undefined) throw new AppError("bad_input", fault);
  const bytes = Buffer.byteLength(memory.text) + Buffer.byteLength(memory.photo ?? "");
  if (bytes <= mostTextBytes) return;
  throw new AppError(
    "too_large",
    `The text of memory "${memory.id}" has ${bytes} bytes; ${mostTextBytes} are allowed.`,
    {
      fix: "split it into several memories",
    },
  );
}

function faultOf({ id, category, text, time, sender, origin, sources }: NewMemory): string | undefined {
  if (id === "" || id.length > mostNameChars) return `An id has 1 to ${mostNameChars} characters, not ${id.length}.`;
  if (!categoryPattern.test(category))
    return `"${category.slice(0, 64)}" cannot be a category: use lower case letters, digits, - and _, at most 32, starting with a letter.`;
  if (text.trim() === "") return `The text of memory "${id}" is empty.`;
  if (sender.length > mostNameChars) return `The sender's name has more than ${mostNameChars} characters.`;
  if (!Number.isSafeInteger(time) || time < earliest || time > latest)
    return `The time of memory "${id}" is no valid time.`;
  if (!origins.includes(origin)) return `"${origin}" is no origin; there are: ${origins.join(", ")}.`;
  if (sources.length > mostSources || sources.some((source) => source.length > mostNameChars))
    return `Memory "${id}" may name at most ${mostSources} sources of ${mostNameChars} characters each.`;
  return undefined;
}
