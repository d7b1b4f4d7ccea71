import { constants } from "node:fs";
import type { Stats } from "node:fs";
import { lstat, open, opendir, rename, rmdir, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";

import { AppError, toError } from "./app-error.ts";

/** Why a file of somebody else's folder was not read. */
export type HostileRefusal =
  | "missing"
  | "bad-name"
  | "link"
  | "not-a-file"
  | "hard-linked"
  | "foreign-owner"
  | "odd-mode"
  | "too-large"
  | "unreadable";

export type HostileReading =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly reason: HostileRefusal };

export interface HostileReadOptions {
  /** Files with more bytes are refused; never more than one byte beyond it is read. */
  readonly maxBytes: number;
  /** The only uid whose files are read; undefined = any. */
  readonly ownerUid?: number | undefined;
  /** Give the first `maxBytes` of a larger file instead of refusing it: for showing, never for parsing. */
  readonly cut?: boolean;
}

/** Linux; same value on all architectures that Node supports, but not in `fs.constants`. */
const pathOnly = 0o10_000_000;

/**
 * A folder that somebody else can change at any moment, such as one that is mounted into a container. It is opened once,
 * without following a link, and everything goes through that descriptor: no later swap of the folder or of an entry leads
 * outside, no FIFO or device blocks, nothing is listed without bound. Linux only.
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

  /** Reads a regular file with one link. Never rejects, never blocks on what is not a file. */
  async readFile(name: string | Buffer, options: HostileReadOptions): Promise<HostileReading> {
    if (!isEntryName(name)) return { ok: false, reason: "bad-name" };
    try {
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      await using file = await open(this.#entry(name), flags);
      const reason = refusalOf(await file.stat(), options);
      if (reason !== undefined) return { ok: false, reason };
      const bytes = await readAtMost(file, options.maxBytes + 1);
      if (bytes.length <= options.maxBytes) return { ok: true, bytes };
      return options.cut === true
        ? { ok: true, bytes: bytes.subarray(0, options.maxBytes) }
        : { ok: false, reason: "too-large" };
    } catch (error) {
      return { ok: false, reason: refusalOfError(error) };
    }
  }

  /** Removes an entry that is not a folder with something in it. False when it is still there. */
  async remove(name: string | Buffer): Promise<boolean> {
    if (!isEntryName(name)) return false;
    const path = this.#entry(name);
    return (await succeeds(unlink(path), "ENOENT")) || succeeds(rmdir(path), "ENOENT");
  }

  /** Moves an entry, whatever it is, into another folder under a name that is free there. False when it stays. */
  async moveTo(name: string | Buffer, target: HostileFolder, newName: string): Promise<boolean> {
    if (!isEntryName(name) || !isEntryName(newName)) return false;
    return succeeds(rename(this.#entry(name), target.#entry(newName)));
  }

  /** Bytes that an entry takes on disk, without opening it; 0 when it is gone. */
  async bytesOnDisk(name: string | Buffer): Promise<number> {
    if (!isEntryName(name)) return 0;
    try {
      return (await lstat(this.#entry(name))).blocks * 512;
    } catch {
      return 0;
    }
  }

  /** Names as bytes, because a name need not be UTF-8. `complete` is false when there are more than `maxEntries`. */
  async list(maxEntries: number): Promise<{ readonly names: readonly Buffer[]; readonly complete: boolean }> {
    const names: Buffer[] = [];
    // Node gives names as bytes when asked to; only its types do not know.
    const folder = await opendir(this.#through, { encoding: "buffer" as BufferEncoding });
    for await (const entry of folder) {
      if (names.length === maxEntries) return { names, complete: false };
      names.push(Buffer.from(entry.name));
    }
    return { names, complete: true };
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
  return undefined;
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
async function readAtMost(file: FileHandle, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  while (total < maxBytes) {
    const chunk = Buffer.allocUnsafe(Math.min(64 * 1024, maxBytes - total));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) break;
    chunks.push(chunk.subarray(0, bytesRead));
    total += bytesRead;
  }
  return Buffer.concat(chunks);
}

async function succeeds(attempt: Promise<void>, ...tolerated: string[]): Promise<boolean> {
  try {
    await attempt;
    return true;
  } catch (error) {
    return tolerated.includes(errorCode(error));
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
