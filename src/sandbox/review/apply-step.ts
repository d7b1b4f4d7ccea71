import { createHash } from "node:crypto";
import { closeSync, readSync, writeSync } from "node:fs";
import { setImmediate as nextTurnOfLoop } from "node:timers/promises";

import { openPathTo } from "./entry-path.ts";
import { errorCode } from "../../lib/app-error.ts";
import { EntryReader, type EntryFacts, stateOf } from "./entry-facts.ts";
import type { ApplyStep } from "./layer-record.ts";
import type { OpenedFolder } from "./opened-folder.ts";

const chunkBytes = 1024 * 1024;

const changedMeanwhile = "has changed meanwhile";

/** Roots between which a step moves content. `id`: of the decision; temporary names have it. */
interface Roots {
  readonly layer: OpenedFolder;
  readonly real: OpenedFolder;
  readonly id: string;
}

/** A reason to leave an entry as it is. */
class Kept extends Error {}

/**
 * Carries out one step in the real folder. Returns why it was left undone, as the end of a sentence; undefined when the
 * real entry is what it should be. May be repeated after a death in its middle.
 */
export async function applyStep(step: ApplyStep, roots: Roots): Promise<string | undefined> {
  using place = openPathTo(roots.real, step.key);
  const { parent, name } = place;
  if (parent === undefined) return step.after === undefined ? undefined : "has no folder to be put into";
  try {
    await put(step, { ...roots, parent, name });
    return undefined;
  } catch (error) {
    if (error instanceof Kept) return error.message;
    throw error;
  }
}

interface Place extends Roots {
  readonly parent: OpenedFolder;
  readonly name: Buffer;
}

async function put(step: ApplyStep, place: Place): Promise<void> {
  const { parent, name, id } = place;
  const temporary = `.crabpot-${id}`;
  // Of a death in the middle.
  parent.removeAll(temporary);
  const now = await factsOf(parent, name);
  if (isDone(step, now)) return;
  const isHalfDone = now === undefined && step.after !== undefined && isReplacement(step);
  if (stateOf(now) !== step.before && !isHalfDone) throw new Kept(changedMeanwhile);
  if (step.after === undefined) remove(parent, name, now);
  else if (step.after.entry === "folder") putFolder(step, place, { now, temporary });
  else if (step.after.entry === "link") putLink(step, place, { now, temporary });
  else await putFile(step, place, { now, temporary });
  parent.sync();
}

function isDone({ after }: ApplyStep, now: EntryFacts | undefined): boolean {
  if (after === undefined || now === undefined) return after === undefined && now === undefined;
  if (after.entry !== now.entry) return false;
  if (after.entry === "link") return after.sha256 === now.sha256;
  return (
    after.mode === now.mode && (after.entry === "folder" || (now.odd === undefined && after.sha256 === now.sha256))
  );
}

/** True when a folder gives way to something else, or the other way round: nothing does that in one call. */
function isReplacement({ before, after }: ApplyStep): boolean {
  return before !== "none" && before.startsWith("folder") !== (after?.entry === "folder");
}

function remove(parent: OpenedFolder, name: Buffer, now: EntryFacts | undefined): void {
  if (now?.entry !== "folder") return parent.removeFile(name);
  try {
    parent.removeFolder(name);
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes(errorCode(error))) throw new Kept("still holds something");
    throw error;
  }
}

function putFolder(
  step: ApplyStep,
  { parent, name }: Place,
  { now, temporary }: { readonly now: EntryFacts | undefined; readonly temporary: string },
): void {
  const { uid, gid, after } = step;
  const mode = after?.mode ?? 0o755;
  if (now?.entry === "folder") return parent.setMode(name, mode | (now.bits & 0o7000));
  if (now !== undefined) parent.removeFile(name);
  parent.makeFolder(temporary, { uid, gid, mode });
  if (parent.stat(name) !== undefined) {
    parent.removeFolder(temporary);
    throw new Kept(changedMeanwhile);
  }
  parent.rename(temporary, name);
}

function putLink(
  step: ApplyStep,
  { parent, name }: Place,
  { now, temporary }: { readonly now: EntryFacts | undefined; readonly temporary: string },
): void {
  const { uid, gid, after } = step;
  if (now?.entry === "folder") remove(parent, name, now);
  const target = after?.link ?? "";
  if (now === undefined || now.entry === "folder") {
    return keepingWhatIsThere(() => parent.makeLink(name, target, { uid, gid, mode: 0o777 }));
  }
  parent.makeLink(temporary, target, { uid, gid, mode: 0o777 });
  requireSame(parent, name, now);
  parent.rename(temporary, name);
}

async function putFile(
  step: ApplyStep,
  place: Place,
  { now, temporary }: { readonly now: EntryFacts | undefined; readonly temporary: string },
): Promise<void> {
  const { parent, name } = place;
  const { after } = step;
  if (after === undefined) return;
  if (now?.entry === "file" && now.sha256 === after.sha256) return parent.setMode(name, after.mode);
  await copyInto(temporary, step, place);
  if (now?.entry === "folder") remove(parent, name, now);
  if (now === undefined || now.entry === "folder") {
    keepingWhatIsThere(() => parent.addName(temporary, name));
    parent.removeFile(temporary);
  } else {
    requireSame(parent, name, now);
    parent.rename(temporary, name);
  }
}

/** Copies the file of the layer to a temporary one beside its place, whole and on the disk. */
async function copyInto(temporary: string, { key, after, uid, gid }: ApplyStep, place: Place): Promise<void> {
  const target = place.parent.createFile(temporary);
  try {
    using from = openPathTo(place.layer, key);
    if (from.parent === undefined) throw new Kept(changedMeanwhile);
    const source = from.parent.openFile(from.name);
    try {
      const sha256 = await pour(source, target);
      if (sha256 !== after?.sha256) throw new Kept(changedMeanwhile);
    } finally {
      closeSync(source);
    }
    place.parent.finishFile(target, { uid, gid, mode: after.mode });
  } catch (error) {
    place.parent.removeFile(temporary);
    throw error;
  } finally {
    closeSync(target);
  }
}

async function pour(source: number, target: number): Promise<string> {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(chunkBytes);
  for (let at = 0; ;) {
    const bytes = readSync(source, chunk, 0, chunk.length, at);
    if (bytes === 0) return hash.digest("hex");
    hash.update(chunk.subarray(0, bytes));
    for (let written = 0; written < bytes;) written += writeSync(target, chunk, written, bytes - written);
    at += bytes;
    await nextTurnOfLoop();
  }
}

/** The last look before something is replaced: only an instant is left in which somebody could write there. */
function requireSame(parent: OpenedFolder, name: Buffer, now: EntryFacts): void {
  const facts = parent.stat(name);
  if (facts === undefined) throw new Kept(changedMeanwhile);
  const { dev, ino, size, mtimeNs, ctimeNs } = facts;
  if ([dev, ino, size, mtimeNs, ctimeNs].join(":") !== now.stamp) throw new Kept(changedMeanwhile);
}

function keepingWhatIsThere(make: () => void): void {
  try {
    make();
  } catch (error) {
    if (errorCode(error) === "EEXIST") throw new Kept(changedMeanwhile);
    throw error;
  }
}

async function factsOf(parent: OpenedFolder, name: Buffer): Promise<EntryFacts | undefined> {
  return new EntryReader().read(parent, name, { show: false });
}
