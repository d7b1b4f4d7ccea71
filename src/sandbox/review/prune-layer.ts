import { randomUUID } from "node:crypto";
import { closeSync, readSync, writeSync } from "node:fs";

import { namesOf, openPathTo } from "./entry-path.ts";
import type { OpenedFolder, Ownership } from "./opened-folder.ts";
import { isWithin } from "../../lib/files/paths.ts";

const chunkBytes = 1024 * 1024;

/** Beginning of the names of what is no longer part of a layer. */
export const droppedStart = "dropped-";

/**
 * Takes entries that are the same in the real folder by now out of a layer that no container has. A folder under which
 * nothing of the real one shows goes as a whole, once nothing in it is `left`, and at once: a half of it would hide the
 * real folder's other half. It goes to `dropped`, for others to remove.
 */
export function removeApplied(
  layer: OpenedFolder,
  keys: readonly string[],
  {
    left,
    closed,
    dropped,
  }: { readonly left: readonly string[]; readonly closed: ReadonlySet<string>; readonly dropped: OpenedFolder },
): void {
  const going = new Set(keys.map((key) => outermost(key, closed) ?? key));
  for (const key of [...going].toSorted().toReversed()) {
    if (left.some((other) => isWithin(other, key))) continue;
    within(layer, key, (parent, name) => {
      const isFolder = parent.stat(name)?.isDirectory() === true;
      if (!isFolder) parent.removeFile(name);
      // An open folder holds nothing that counts but what is in it.
      else if (closed.has(key)) parent.moveTo(name, dropped, `${droppedStart}${randomUUID()}`);
    });
  }
}

/** Makes the agent see an entry as it is in the real folder. May be repeated. */
export function restoreEntry(
  { key, restored }: { readonly key: string; readonly restored: boolean },
  { layer, real, id }: { readonly layer: OpenedFolder; readonly real: OpenedFolder; readonly id: string },
): void {
  if (restored) return copyFromReal(layer, real, { names: namesOf(key), id });
  within(layer, key, (parent, name) => {
    const facts = within(real, key, (place, entry) => place.stat(entry));
    const own = parent.stat(name);
    // A folder over one: its bits were changed, or what is in it goes by itself.
    if (own?.isDirectory() === true && facts?.isDirectory() === true) parent.setMode(name, Number(facts.mode & 0o777n));
    else parent.removeAll(name);
  });
}

/** Copies one entry, with the folders around it; what is in a folder is copied by itself. */
function copyFromReal(
  layer: OpenedFolder,
  real: OpenedFolder,
  { names, id }: { readonly names: readonly Buffer[]; readonly id: string },
): void {
  const [name, ...rest] = names;
  const facts = name && real.stat(name);
  if (name === undefined || facts === undefined) return;
  const owner = { uid: Number(facts.uid), gid: Number(facts.gid), mode: Number(facts.mode & 0o777n) };
  if (facts.isDirectory()) {
    ensureFolder(layer, name, owner);
    if (rest.length === 0) layer.setMode(name, owner.mode);
    using inner = layer.folder(name);
    using below = real.folder(name);
    if (inner && below) copyFromReal(inner, below, { names: rest, id });
    return;
  }
  const temporary = `.crabpot-${id}`;
  layer.removeAll(temporary);
  if (facts.isSymbolicLink()) layer.makeLink(temporary, real.readLink(name), owner);
  else copyFile(layer, real, { name, temporary, owner });
  replace(layer, temporary, name);
}

function ensureFolder(layer: OpenedFolder, name: Buffer, owner: Ownership): void {
  if (layer.stat(name)?.isDirectory() === true) return;
  layer.removeAll(name);
  layer.makeFolder(name, owner);
}

function replace(layer: OpenedFolder, temporary: string, name: Buffer): void {
  if (layer.stat(name)?.isDirectory() === true) layer.removeAll(name);
  layer.rename(temporary, name);
}

function copyFile(
  layer: OpenedFolder,
  real: OpenedFolder,
  file: {
    readonly name: Buffer;
    readonly temporary: string;
    readonly owner: { readonly uid: number; readonly gid: number; readonly mode: number };
  },
): void {
  const target = layer.createFile(file.temporary);
  try {
    const source = real.openFile(file.name);
    try {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      for (let at = 0, bytes = -1; bytes !== 0; at += bytes) {
        bytes = readSync(source, chunk, 0, chunk.length, at);
        writeAll(target, chunk.subarray(0, bytes));
      }
    } finally {
      closeSync(source);
    }
    layer.finishFile(target, file.owner);
  } finally {
    closeSync(target);
  }
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
}

function outermost(key: string, closed: ReadonlySet<string>): string | undefined {
  const names = key.split("/");
  return names.map((_, index) => names.slice(0, index + 1).join("/")).find((folder) => closed.has(folder));
}

/** Calls with the folder that holds an entry; undefined when that is gone or behind a link. */
function within<Result>(
  root: OpenedFolder,
  key: string,
  use: (parent: OpenedFolder, name: Buffer) => Result,
): Result | undefined {
  using place = openPathTo(root, key);
  return place.parent && use(place.parent, place.name);
}
