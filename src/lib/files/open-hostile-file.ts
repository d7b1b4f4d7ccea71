import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  readSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import type { Stats } from "node:fs";
import { chmod, chown, link, open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";

import { AppError, errorCode, toError } from "../app-error.ts";

/** Reasons not to read a file in someone else's folder. */
export type HostileRefusal =
  | "missing"
  | "bad-name"
  | "link"
  | "not-a-file"
  | "hard-linked"
  | "foreign-owner"
  | "odd-mode"
  | "writable-by-others"
  | "too-large"
  | "unreadable";

export type HostileReading =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly reason: HostileRefusal };

/** `head`: the first bytes, for telling what it is. */
export type HostileCopy =
  | { readonly ok: true; readonly bytes: number; readonly sha256: string; readonly head: Buffer }
  | { readonly ok: false; readonly reason: HostileRefusal };

export interface HostileReadOptions {
  /** Files with more bytes are refused; never more than one byte beyond it is read. */
  readonly maxBytes: number;
  /** The only uid whose files are read; undefined = any. */
  readonly ownerUid?: number | undefined;
  /** Additional refusal, judged by the opened file. */
  readonly refuse?: (stats: Stats) => HostileRefusal | undefined;
  /** Give the first `maxBytes` of a larger file instead of refusing it: for showing, never for parsing. */
  readonly cut?: boolean;
}

/** Linux; same value on all architectures that Node supports, but not in `fs.constants`. */
const pathOnly = 0o10_000_000;
const readingFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * A folder that somebody else can change at any moment, such as one that is mounted into a container. It is opened
 * once, without following a link, and everything goes through that descriptor: no later swap of the folder or of an
 * entry leads outside, no FIFO or device blocks, nothing is listed without bound. Linux only.
 *
 * What is asked from it is a few calls of the kernel on small files, done at once: by way of the thread pool each of
 * them takes ten times as long, and all of them together are what a message waits for.
 */
export class HostileFolder implements AsyncDisposable {
  readonly #handle: FileHandle;
  #through: string;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
    this.#through = `/proc/self/fd/${handle.fd}`;
  }

  /** Throws `not_found` when there is no such folder or the last component of the path is a link or no folder. */
  static async open(path: string): Promise<HostileFolder> {
    const flags = pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    try {
      return new HostileFolder(await open(path, flags));
    } catch (error) {
      const { message } = toError(error);
      throw new AppError("not_found", `${path} cannot be opened as a folder: ${message}`, { cause: error });
    }
  }

  /** Opens a folder directly inside this one by the same rules; undefined when it is no folder, a link, or gone. */
  async openFolder(name: string | Buffer): Promise<HostileFolder | undefined> {
    if (!isEntryName(name)) return undefined;
    try {
      const flags = pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW;
      return new HostileFolder(await open(this.#entry(name), flags));
    } catch {
      return undefined;
    }
  }

  /** Makes a folder directly inside this one, readable by all. False when the name is taken. */
  async makeFolder(name: string): Promise<boolean> {
    return isEntryName(name) && succeeds(() => mkdirSync(this.#entry(name), 0o755));
  }

  /** Owner of this folder. */
  async owner(): Promise<{ readonly uid: number; readonly gid: number }> {
    const { uid, gid } = await this.#handle.stat();
    return { uid, gid };
  }

  /** Gives this folder, and nothing in it, to somebody. */
  async giveTo({ uid, gid }: { readonly uid: number; readonly gid: number }): Promise<void> {
    await chown(this.#through, uid, gid);
  }

  /** Lets everybody who gets to this folder write in it. */
  async openToAll(): Promise<void> {
    await chmod(this.#through, 0o777);
  }

  /**
   * Gives our own files a second name here. `taken`: that name is in use; nothing is ever replaced or followed.
   */
  async linkIn(path: string, name: string): Promise<"linked" | "taken"> {
    try {
      await link(path, this.#entry(name));
      return "linked";
    } catch (error) {
      if (errorCode(error) === "EEXIST") return "taken";
      throw error;
    }
  }

  /** Moves our own files here, over whatever has the name. False where that is a folder; otherwise it throws. */
  async putOver(path: string, name: string): Promise<boolean> {
    try {
      renameSync(path, this.#entry(name));
      return true;
    } catch (error) {
      if (errorCode(error) === "EISDIR") return false;
      throw error;
    }
  }

  /** Reads a regular file with one link. Never rejects, never blocks on what is not a file. */
  async readFile(name: string | Buffer, options: HostileReadOptions): Promise<HostileReading> {
    if (!isEntryName(name)) return { ok: false, reason: "bad-name" };
    try {
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      using file = openedNow(this.#entry(name), flags);
      const stats = fstatSync(file.descriptor);
      const reason = refusalOf(stats, options);
      if (reason !== undefined) return { ok: false, reason };
      const bytes = readAtMost(file.descriptor, options.maxBytes + 1, stats.size);
      if (bytes.length <= options.maxBytes) return { ok: true, bytes };
      return options.cut === true
        ? { ok: true, bytes: bytes.subarray(0, options.maxBytes) }
        : { ok: false, reason: "too-large" };
    } catch (error) {
      return { ok: false, reason: refusalOfError(error) };
    }
  }

  /**
   * Copies a regular file with one link, as it is at this moment, to a new file of ours that only we can read. Blocks
   * on nothing that is not a file, and never copies more than `maxBytes`. Rejects when our own file cannot be written.
   */
  async copyFile(name: string, target: string, options: HostileReadOptions): Promise<HostileCopy> {
    if (!isEntryName(name)) return { ok: false, reason: "bad-name" };
    const source = await open(this.#entry(name), readingFlags).catch(refusalOfError);
    if (typeof source === "string") return { ok: false, reason: source };
    await using file = source;
    const reason = refusalOf(await file.stat(), options);
    return reason === undefined ? await pour(file, target, options.maxBytes) : { ok: false, reason };
  }

  /** Removes an entry that is not a folder with something in it. False when it is still there. */
  async remove(name: string | Buffer): Promise<boolean> {
    if (!isEntryName(name)) return false;
    const path = this.#entry(name);
    return succeeds(() => unlinkSync(path), "ENOENT") || succeeds(() => rmdirSync(path), "ENOENT");
  }

  /** Moves an entry, whatever it is, into another folder under a name that is free there. False when it stays. */
  async moveTo(name: string | Buffer, target: HostileFolder, newName: string): Promise<boolean> {
    if (!isEntryName(name) || !isEntryName(newName)) return false;
    return succeeds(() => renameSync(this.#entry(name), target.#entry(newName)));
  }

  /** Bytes that an entry takes on disk, without opening it; 0 when it is gone. */
  async bytesOnDisk(name: string | Buffer): Promise<number> {
    return ((await this.stat(name))?.blocks ?? 0) * 512;
  }

  /** Stats of an entry without opening it; undefined when it is gone. */
  async stat(name: string | Buffer): Promise<Stats | undefined> {
    if (!isEntryName(name)) return undefined;
    try {
      return lstatSync(this.#entry(name), { throwIfNoEntry: false });
    } catch {
      return undefined;
    }
  }

  /** Names as bytes, because a name need not be UTF-8. `complete` is false when there are more than `maxEntries`. */
  async list(maxEntries: number): Promise<{ readonly names: readonly Buffer[]; readonly complete: boolean }> {
    const names: Buffer[] = [];
    // Node gives names as bytes when asked to; only its types do not know.
    const folder = opendirSync(this.#through, { encoding: "buffer" as BufferEncoding });
    try {
      for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
        if (names.length === maxEntries) return { names, complete: false };
        names.push(Buffer.from(entry.name));
      }
      return { names, complete: true };
    } finally {
      folder.closeSync();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The number may name another file in a moment.
    this.#through = "/proc/self/fd/closed";
    await this.#handle.close();
  }

  #entry(name: string | Buffer): string | Buffer {
    return typeof name === "string"
      ? join(this.#through, name)
      : Buffer.concat([Buffer.from(`${this.#through}/`), name]);
  }
}

/** One component, so that the descriptor's folder is never left. */
function isEntryName(name: string | Buffer): boolean {
  const bytes = Buffer.from(name);
  const text = bytes.toString("latin1");
  return text !== "" && text !== "." && text !== ".." && !bytes.includes(0) && !text.includes("/");
}

function refusalOf(stats: Stats, options: HostileReadOptions): HostileRefusal | undefined {
  if (!stats.isFile()) return "not-a-file";
  if (stats.nlink !== 1) return "hard-linked";
  if (options.ownerUid !== undefined && stats.uid !== options.ownerUid) return "foreign-owner";
  // Not readable by its own owner, or setuid, setgid, sticky: nothing that an honest writer makes.
  if ((stats.mode & 0o400) === 0 || (stats.mode & 0o7000) !== 0) return "odd-mode";
  if (stats.size > options.maxBytes && options.cut !== true) return "too-large";
  return options.refuse?.(stats);
}

function refusalOfError(error: unknown): HostileRefusal {
  const reasons: Record<string, HostileRefusal> = {
    ENOENT: "missing",
    ELOOP: "link",
    ENXIO: "not-a-file",
    EISDIR: "not-a-file",
    ENOTDIR: "not-a-file",
    ENAMETOOLONG: "bad-name",
  };
  return reasons[errorCode(error)] ?? "unreadable";
}

/** The size that `stat` gave may be stale at once, so it is the count of bytes read that is capped. */
function readAtMost(descriptor: number, maxBytes: number, expected: number): Buffer {
  const chunks: Buffer[] = [];
  let total = 0;
  // One byte more than expected, so that the end is seen without another chunk.
  for (let wanted = expected + 1; total < maxBytes; wanted = 64 * 1024) {
    const chunk = Buffer.allocUnsafe(Math.min(wanted, maxBytes - total));
    const bytesRead = readSync(descriptor, chunk, 0, chunk.length, null);
    chunks.push(chunk.subarray(0, bytesRead));
    total += bytesRead;
    if (bytesRead < chunk.length) break;
  }
  return Buffer.concat(chunks);
}

async function pour(source: FileHandle, target: string, maxBytes: number): Promise<HostileCopy> {
  await using copy = await open(target, "wx", 0o600);
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(256 * 1024);
  let [bytes, head] = [0, Buffer.alloc(0)];
  for (;;) {
    const { bytesRead } = await source.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) break;
    const piece = chunk.subarray(0, bytesRead);
    if (bytes === 0) head = Buffer.from(piece.subarray(0, 4_096));
    bytes += bytesRead;
    if (bytes > maxBytes) return { ok: false, reason: "too-large" };
    hash.update(piece);
    await copy.appendFile(piece);
  }
  await copy.sync();
  return { ok: true, bytes, sha256: hash.digest("hex"), head };
}

function openedNow(path: string | Buffer, flags: number): { readonly descriptor: number } & Disposable {
  const descriptor = openSync(path, flags);
  return { descriptor, [Symbol.dispose]: () => closeSync(descriptor) };
}

function succeeds(attempt: () => void, ...tolerated: string[]): boolean {
  try {
    attempt();
    return true;
  } catch (error) {
    return tolerated.includes(errorCode(error));
  }
}
