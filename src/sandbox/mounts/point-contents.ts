import { createHash } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";

import type { PointContent } from "../../domain/sandbox/mount.ts";
import { isSecretPath } from "../../protocol/secret-names.ts";
import type { FoundEntry } from "./find-entries.ts";
import { openBelow } from "./open-below.ts";
import { visiblePath } from "./walk.ts";

/** Files up to this size are compared by contents, larger ones by their last change. */
const mostRead = 64 * 1024;
/** Texts of one container that are kept to be shown as a diff, and bytes of all of them. */
const mostTexts = 500;
const mostTextBytes = 4 * 1024 * 1024;

interface Known {
  readonly stamp: string;
  readonly hash: string;
  readonly content: PointContent;
}

/** An execution point at one moment. */
export interface PointState {
  /** Differs when the point has changed. */
  readonly state: string;
  readonly content: PointContent | undefined;
}

/** Contents of the execution points of a container, so that only changed ones are read again. */
export class PointContents {
  readonly #known = new Map<string, Known>();
  #texts = 0;
  #bytes = 0;

  /**
   * Returns what a point is now. A folder is only identified: its entries count themselves. `isCompared`: any other
   * content is another state; otherwise any write is one, and the content is only read while there is room.
   */
  async of(
    { path, type, mode, inode, size, changedAt, linkTarget }: FoundEntry,
    { key, folder, isCompared }: { readonly key: string; readonly folder: FileHandle; readonly isCompared: boolean },
  ): Promise<PointState> {
    if (type === "d") return { state: `d ${inode}`, content: undefined };
    if (type === "l") {
      const text = `a link to ${visiblePath(linkTarget)}\n`;
      return { state: `l ${linkTarget.toString("latin1")}`, content: { bytes: linkTarget.length, text } };
    }
    const stamp = `${type} ${inode} ${size} ${changedAt}`;
    const isRead = type === "f" && size <= mostRead && (isCompared || this.#hasRoom(size));
    if (!isRead) return { state: stamp, content: type === "f" ? { bytes: size } : undefined };
    const { hash, content } = await this.#read(path, { key, folder, stamp });
    return { state: isCompared ? `f ${mode & 0o111} ${hash}` : stamp, content };
  }

  /** Forgets all but these. */
  keep(keys: ReadonlyMap<string, unknown>): void {
    for (const key of this.#known.keys()) if (!keys.has(key)) this.#forget(key);
  }

  async #read(
    path: Buffer,
    { key, folder, stamp }: { readonly key: string; readonly folder: FileHandle; readonly stamp: string },
  ): Promise<Known> {
    const known = this.#known.get(key);
    if (known?.stamp === stamp) return known;
    this.#forget(key);
    const bytes = await readFile(folder, path);
    const hash = createHash("sha256").update(bytes).digest("hex");
    const isSecret = isSecretPath(path.toString());
    const text = isSecret || !this.#hasRoom(bytes.length) ? undefined : textOf(bytes);
    const content = { bytes: bytes.length, ...(!isSecret && { sha256: hash }), ...(text !== undefined && { text }) };
    if (text !== undefined) this.#count(content, 1);
    const read = { stamp, hash, content };
    this.#known.set(key, read);
    return read;
  }

  #hasRoom(bytes: number): boolean {
    return this.#texts < mostTexts && this.#bytes + bytes <= mostTextBytes;
  }

  #forget(key: string): void {
    const content = this.#known.get(key)?.content;
    if (content?.text !== undefined) this.#count(content, -1);
    this.#known.delete(key);
  }

  #count({ bytes }: PointContent, by: 1 | -1): void {
    this.#texts += by;
    this.#bytes += by * bytes;
  }
}

/** Undefined for what is no text. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? text : undefined;
}

/** The present file. If it was exchanged since it was found, the next look sees that. */
async function readFile(folder: FileHandle, path: Buffer): Promise<Buffer> {
  await using place = await openBelow(folder, path);
  if (!place || !(await place.stat()).isFile()) return Buffer.alloc(0);
  await using file = await open(`/proc/self/fd/${place.fd}`, "r");
  const { buffer, bytesRead } = await file.read(Buffer.alloc(mostRead), 0, mostRead, 0);
  return buffer.subarray(0, bytesRead);
}
