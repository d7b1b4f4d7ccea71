import { createHash } from "node:crypto";
import { closeSync, fstatSync, readSync, type BigIntStats } from "node:fs";
import { setImmediate as nextTurnOfLoop } from "node:timers/promises";

import type { ReviewEntry, ReviewEntryKind } from "./review-layer.ts";
import type { EntryName, OpenedFolder } from "./opened-folder.ts";
import { mebibyte } from "../../lib/text/bytes.ts";

/** The largest file that is read; containers cannot write larger ones (see `resourceLimits`). */
const maxFileBytes = 256 * mebibyte;
/** Bytes of one diff that are read, of both sides together. */
const maxReadBytes = 1024 * mebibyte;
/** Files up to this size are shown as text. */
const maxTextBytes = 64 * 1024;
/** Bytes of text that one diff shows. */
const maxShownBytes = 1024 * 1024;
const chunkBytes = 1024 * 1024;

/** The reason of `odd` for a file that is not read. */
export const tooLarge = "is too large to be reviewed";

/** An entry as it was found on one side. */
export interface EntryFacts extends ReviewEntry {
  readonly uid: number;
  readonly gid: number;
  /** All permission bits of the file system. */
  readonly bits: number;
  /** Differs after every change of the entry, and sometimes without one. */
  readonly stamp: string;
  /** Last change by the machine's clock, milliseconds since 1970; nobody but the clock can set it. */
  readonly changedAt: number;
  /** Content of a small text. */
  readonly content?: string | undefined;
  /** Reason why it is no ordinary entry, as the end of a sentence. */
  readonly odd?: string | undefined;
}

/** Reading of one diff, with its limits. The same entries in the same order always get the same facts. */
export class EntryReader {
  #read = 0;
  #shown = 0;

  /** Facts of an entry; undefined when there is none. `show`: with its content, if it is a small text. */
  async read(
    folder: OpenedFolder,
    name: EntryName,
    { show }: { readonly show: boolean },
  ): Promise<EntryFacts | undefined> {
    const stats = folder.stat(name);
    if (stats === undefined) return undefined;
    const entry = kindOf(stats);
    if (entry === undefined) return { ...commonOf(stats), entry: "file", size: 0, odd: oddity(stats) };
    if (entry === "folder") return { ...commonOf(stats), entry, size: 0 };
    if (entry === "link") {
      const target = folder.readLink(name);
      return { ...commonOf(stats), entry, size: 0, sha256: digestOf(target), link: target.toString("utf8") };
    }
    return this.#readFile(folder, name, { stats, show });
  }

  async #readFile(
    folder: OpenedFolder,
    name: EntryName,
    { stats, show }: { readonly stats: BigIntStats; readonly show: boolean },
  ): Promise<EntryFacts> {
    const size = Number(stats.size);
    const common = { ...commonOf(stats), entry: "file" as const, size };
    this.#read += size;
    if (size > maxFileBytes || this.#read > maxReadBytes) return { ...common, odd: tooLarge };
    let descriptor: number;
    try {
      descriptor = folder.openFile(name);
    } catch {
      return { ...common, odd: "cannot be read" };
    }
    try {
      const isSmall = show && size <= maxTextBytes && this.#shown < maxShownBytes;
      const { sha256, bytes, isScript } = await digestFile(descriptor, isSmall ? maxTextBytes : 0);
      // It grew meanwhile: the next look sees all of it.
      const content = isSmall && bytes !== undefined ? textOf(bytes) : undefined;
      this.#shown += content?.length ?? 0;
      const now = fstatSync(descriptor, { bigint: true });
      const facts = { ...commonOf(now), entry: "file", size: Number(now.size), sha256, content } as const;
      return isScript ? { ...facts, isScript } : facts;
    } finally {
      closeSync(descriptor);
    }
  }
}

/** Reads an open file; with its bytes if there are at most `keep`. Lets others at work between two pieces. */
async function digestFile(
  descriptor: number,
  keep: number,
): Promise<{ readonly sha256: string; readonly bytes: Buffer | undefined; readonly isScript: boolean }> {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(keep > 0 ? keep + 1 : chunkBytes);
  let [total, kept, isScript] = [0, Buffer.alloc(0), false];
  for (let bytes = -1; bytes !== 0 && total <= maxFileBytes;) {
    bytes = readSync(descriptor, chunk, 0, chunk.length, total);
    hash.update(chunk.subarray(0, bytes));
    if (total === 0) isScript = bytes >= 2 && chunk[0] === 0x23 && chunk[1] === 0x21;
    if (total < keep) kept = Buffer.concat([kept, chunk.subarray(0, bytes)]);
    total += bytes;
    if (bytes === chunkBytes) await nextTurnOfLoop();
  }
  return { sha256: hash.digest("hex"), bytes: total <= keep ? kept : undefined, isScript };
}

function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function commonOf(stats: BigIntStats): Pick<EntryFacts, "uid" | "gid" | "bits" | "mode" | "stamp" | "changedAt"> {
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return {
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    bits: Number(stats.mode & 0o7777n),
    mode: Number(stats.mode & 0o777n),
    stamp: [dev, ino, size, mtimeNs, ctimeNs].join(":"),
    changedAt: Number(ctimeNs / 1_000_000n),
  };
}

function kindOf(stats: BigIntStats): ReviewEntryKind | undefined {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "folder";
  return stats.isSymbolicLink() ? "link" : undefined;
}

function oddity(stats: BigIntStats): string {
  if (stats.isFIFO()) return "is a FIFO";
  return stats.isSocket() ? "is a socket" : "is a device file";
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A text that is the same for the same entry: by content where that was read. `none`: there is no entry. */
export function stateOf(facts: EntryFacts | undefined): string {
  if (facts === undefined) return "none";
  const { entry, sha256, mode, stamp, odd } = facts;
  if (entry === "folder") return `folder ${mode.toString(8)}`;
  if (entry === "link") return `link ${sha256}`;
  return `file ${mode.toString(8)} ${odd === undefined && sha256 !== undefined ? sha256 : stamp}`;
}
