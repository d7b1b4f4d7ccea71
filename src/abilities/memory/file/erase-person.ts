import { setImmediate } from "node:timers/promises";

import type { Erasing } from "../../../domain/erasure.ts";
import { memberKey } from "../../../domain/people/person.ts";
import type { WordTraces } from "../../../lib/text/word-traces.ts";
import { hasWholeWord } from "../../../lib/text/whole-words.ts";
import { dayNotePrefix, ownIds } from "../item.ts";
import { MemoryFile } from "./memory-file.ts";
import type { Memory } from "../../../processes/memory-schemas.ts";

/** Memories that are looked at before anybody else has a turn. */
const lookedAtOnce = 200;
const removedAtOnce = 200;

export interface MemoryErasing extends Erasing {
  /** Ids of their messages, as the channel has them. */
  readonly messageIds: ReadonlySet<string>;
}

/**
 * Adds what a memory knows that they have said: it goes back further than the store. False: nothing of theirs is in it.
 */
export async function noteSaid(
  path: string,
  { people }: Pick<Erasing, "people">,
  traces: WordTraces,
): Promise<boolean> {
  using file = MemoryFile.open(path);
  const keys = new Set(people.map(memberKey));
  let isKnown = false;
  for await (const memory of slowly(file)) {
    if (!isOf(memory, keys)) continue;
    isKnown = true;
    if (isSaid(memory)) traces.note(memory.text);
  }
  return isKnown;
}

/** Takes out what others have said as well, as far as a memory knows. */
export async function discountSaid(
  path: string,
  { people }: Pick<Erasing, "people">,
  traces: WordTraces,
): Promise<void> {
  using file = MemoryFile.open(path);
  const keys = new Set(people.map(memberKey));
  for await (const memory of slowly(file)) if (isSaid(memory) && !isOf(memory, keys)) traces.discount(memory.text);
}

function isOf({ people }: Memory, keys: ReadonlySet<string>): boolean {
  return people?.some((person) => keys.has(person)) === true;
}

function isSaid({ category, origin }: Memory): boolean {
  return category === "conversation" && origin !== "agent";
}

/**
 * Removes the person's memories. A memory shared with others stays without the person's name, if its text has none of
 * their words: a fact that somebody else also said belongs to that one.
 */
export async function erasePerson(path: string, erasing: MemoryErasing): Promise<number> {
  using file = MemoryFile.open(path);
  const keys = new Set(erasing.people.map(memberKey));
  const made: string[] = [];
  const own: string[] = [];
  const shared: Memory[] = [];
  for await (const memory of slowly(file)) {
    const verdict = judge(memory, erasing, keys);
    if (verdict === "remove")
      (memory.origin === "agent" || memory.category !== "conversation" ? made : own).push(memory.id);
    if (verdict === "detach") shared.push(memory);
  }
  for (const { id, people = [], sources } of shared)
    file.detach(id, {
      people: people.filter((person) => !keys.has(person)),
      sources: sources.filter((source) => !erasing.messageIds.has(source)),
    });
  // What they said themselves is last: what was made of it is told by it.
  const gone = [...made, ...own];
  for (let from = 0; from < gone.length; from += removedAtOnce) {
    file.remove(gone.slice(from, from + removedAtOnce));
    await setImmediate();
  }
  return gone.length;
}

function judge(memory: Memory, erasing: MemoryErasing, keys: ReadonlySet<string>): "remove" | "detach" | "keep" {
  const { id, text, sender, origin, people = [], sources } = memory;
  if (isOf(memory, keys)) return isTheirs(memory, erasing, keys) ? "remove" : "detach";
  const isMade = origin === "agent" || id.startsWith(ownIds.fact) || id.startsWith(dayNotePrefix);
  if (isMade && erasing.holds(text)) return "remove";
  const isFromThem = sources.some((source) => erasing.messageIds.has(source));
  return people.length === 0 && erasing.names.includes(sender) && isFromThem ? "remove" : "keep";
}

/** The note of a day tells in other words what everybody said. */
function isTheirs(
  { id, text, sender, people = [] }: Memory,
  { holds, names }: MemoryErasing,
  keys: ReadonlySet<string>,
): boolean {
  if (people.every((person) => keys.has(person)) || id.startsWith(dayNotePrefix)) return true;
  return names.includes(sender) || hasWholeWord(text, names) || holds(text);
}

async function* slowly(file: MemoryFile): AsyncGenerator<Memory> {
  let count = 0;
  for (const memory of file.all()) {
    yield memory;
    count += 1;
    if (count % lookedAtOnce === 0) await setImmediate();
  }
}
