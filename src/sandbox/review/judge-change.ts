import type { EntryFacts } from "./entry-facts.ts";
import { foldName, hasHiddenCharacters } from "../../lib/files/paths.ts";

/** Bits that a new entry may have: nobody but its owner writes it. */
const newBits = 0o755;
const othersWrite = 0o022;

/**
 * Permission bits with which an entry of the agent's is applied: setuid, setgid and sticky bits never come from it, and
 * others may write only what they could write before.
 */
export function appliedMode(after: number, before: number | undefined): number {
  return (after & newBits) | ((before ?? 0) & othersWrite);
}

/** Returns why a name cannot be applied, as the end of a sentence. */
export function nameFault(name: Buffer): string | undefined {
  const text = name.toString("utf8");
  if (!Buffer.from(text).equals(name)) return "has a name that is not valid text";
  if (hasHiddenCharacters(text)) return "has control or invisible characters in its name";
  return text.trim() === text ? undefined : "has a name that begins or ends with a blank";
}

/** Returns what people should know about a name. `others`: the names beside it, its own among them. */
export function nameRemarks(name: string, others: readonly string[]): string[] {
  const folded = foldName(name);
  const twin = others.find((other) => other !== name && foldName(other) === folded);
  return [
    ...(twin === undefined ? [] : [`has nearly the same name as ${twin} beside it`]),
    ...(name.normalize("NFC") === name ? [] : ["has a name in another form of Unicode than usual (not NFC)"]),
  ];
}

/**
 * Returns why a link cannot be applied, as the end of a sentence: only relative ones that stay in the mount are, whose
 * target can be read off. `path`: the link's own. `isLink`: whether there is a link at a path below the mount.
 */
export function linkFault(path: string, target: string, isLink: (path: string) => boolean): string | undefined {
  if (target === "" || Buffer.byteLength(target) > 1_024 || hasHiddenCharacters(target) || target.includes("\uFFFD"))
    return "is a link whose target is not plain text";
  if (target.startsWith("/")) return "is a link to an absolute path";
  const names = target.split("/").filter((name) => name !== "" && name !== ".");
  const ups = names.findIndex((name) => name !== "..");
  const down = ups < 0 ? [] : names.slice(ups);
  // Behind a link, `..` leads elsewhere than it looks.
  if (down.includes("..")) return "is a link that goes down and up again";
  const around = path.split("/").slice(0, -1);
  const up = names.length - down.length;
  if (up > around.length) return "is a link that leads out of the mount";
  const place = around.slice(0, around.length - up);
  for (const [index] of down.entries()) {
    const through = [...place, ...down.slice(0, index + 1)].join("/");
    if (through !== path && isLink(through)) return `is a link through another link (${through})`;
  }
  return undefined;
}

/** Returns what people should know about a new or changed entry. */
export function entryRemarks(after: EntryFacts | undefined, before: EntryFacts | undefined): string[] {
  if (after === undefined || after.odd !== undefined) return [];
  const becomesExecutable = after.entry === "file" && (after.mode & 0o111) !== 0 && ((before?.mode ?? 0) & 0o111) === 0;
  return [
    ...(becomesExecutable ? ["is executable"] : []),
    ...((after.bits & 0o7000) === 0 || after.entry === "folder"
      ? []
      : ["has setuid, setgid or sticky bits, which it loses"]),
    ...(before !== undefined && before.entry !== after.entry ? [`was a ${before.entry} before`] : []),
  ];
}
