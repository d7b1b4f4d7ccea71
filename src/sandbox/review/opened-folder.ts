import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  opendirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";

import { AppError, errorCode, toError } from "../../lib/app-error.ts";
import { pathOnly } from "../mounts/open-below.ts";

/** Called right before each change of a file or folder; what it throws ends the work there. */
export type BeforeChange = (change: string) => void;

/** Name of an entry, as bytes: names need not be text. */
export type EntryName = Buffer | string;

/** Owner and permission bits that an entry gets. */
export interface Ownership {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/**
 * A folder that is held open by its descriptor and was reached without following a link. Everything names an entry
 * directly in it, so that nobody who moves or replaces folders meanwhile can lead a change elsewhere. Linux only.
 */
export class OpenedFolder implements Disposable {
  readonly #descriptor: number;
  readonly #before: BeforeChange;

  private constructor(descriptor: number, before: BeforeChange) {
    this.#descriptor = descriptor;
    this.#before = before;
  }

  /** Throws `not_found` when there is no such folder, or its last component is a link. */
  static open(path: string, before: BeforeChange = () => undefined): OpenedFolder {
    try {
      return new OpenedFolder(openSync(path, pathOnly | constants.O_DIRECTORY), before);
    } catch (error) {
      throw new AppError("not_found", `${path} cannot be opened as a folder: ${toError(error).message}`, {
        cause: error,
      });
    }
  }

  /** Opens a folder in it; undefined when there is none: a link is none. */
  folder(name: EntryName): OpenedFolder | undefined {
    try {
      return new OpenedFolder(openSync(this.#entry(name), pathOnly | constants.O_DIRECTORY), this.#before);
    } catch (error) {
      if (["ENOENT", "ENOTDIR", "ELOOP"].includes(errorCode(error))) return undefined;
      throw error;
    }
  }

  /** Facts of the folder itself. */
  get facts(): BigIntStats {
    return fstatSync(this.#descriptor, { bigint: true });
  }

  /** Lists at most this many names, in the order of their bytes. */
  names(most: number): Buffer[] {
    const names: Buffer[] = [];
    const folder = opendirSync(`${this.#self}/.`, { encoding: "buffer" as BufferEncoding });
    try {
      for (let entry = folder.readSync(); entry !== null && names.length < most; entry = folder.readSync())
        names.push(Buffer.from(entry.name));
    } finally {
      folder.closeSync();
    }
    return names.toSorted((one, other) => Buffer.compare(one, other));
  }

  /** Facts of an entry, links not followed; undefined when there is none. */
  stat(name: EntryName): BigIntStats | undefined {
    return lstatSync(this.#entry(name), { bigint: true, throwIfNoEntry: false });
  }

  readLink(name: EntryName): Buffer {
    return readlinkSync(this.#entry(name), { encoding: "buffer" });
  }

  /** Opens a regular file for reading; never waits for a FIFO. Close it. */
  openFile(name: EntryName): number {
    const descriptor = openSync(this.#entry(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (fstatSync(descriptor).isFile()) return descriptor;
    closeSync(descriptor);
    throw new AppError("conflict", "It is no file anymore.");
  }

  /** Creates a file for writing, which only its owner can use at first. Close it. */
  createFile(name: EntryName): number {
    this.#before("create");
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    return openSync(this.#entry(name), flags, 0o600);
  }

  /** Gives an open file its owner and bits, and puts it on the disk. A host that is not root keeps the owner. */
  finishFile(descriptor: number, { uid, gid, mode }: Ownership): void {
    this.#before("finish");
    if (process.getuid?.() === 0) fchownSync(descriptor, uid, gid);
    fchmodSync(descriptor, mode);
    fsyncSync(descriptor);
  }

  makeFolder(name: EntryName, { uid, gid, mode }: Ownership): void {
    this.#before("mkdir");
    mkdirSync(this.#entry(name), 0o700);
    this.#before("mkdir-owner");
    if (process.getuid?.() === 0) lchownSync(this.#entry(name), uid, gid);
    this.setMode(name, mode);
  }

  /** Sets the bits of a file or folder; does nothing to a link. */
  setMode(name: EntryName, mode: number): void {
    this.#before("chmod");
    const descriptor = openSync(this.#entry(name), pathOnly);
    try {
      if (!fstatSync(descriptor).isSymbolicLink()) chmodSync(`/proc/self/fd/${descriptor}`, mode);
    } finally {
      closeSync(descriptor);
    }
  }

  makeLink(name: EntryName, target: EntryName, { uid, gid }: Ownership): void {
    this.#before("symlink");
    symlinkSync(target, this.#entry(name));
    if (process.getuid?.() === 0) lchownSync(this.#entry(name), uid, gid);
  }

  /** Renames over what has the new name, unless that is a folder. */
  rename(from: EntryName, to: EntryName): void {
    this.#before("rename");
    renameSync(this.#entry(from), this.#entry(to));
  }

  /** Moves an entry with all that is in it, at once, to a free name in another folder. */
  moveTo(name: EntryName, target: OpenedFolder, newName: EntryName): void {
    this.#before("move");
    renameSync(this.#entry(name), target.#entry(newName));
  }

  /** Gives an entry a second name, which must be free: nothing is ever replaced. */
  addName(from: EntryName, to: EntryName): void {
    this.#before("link");
    linkSync(this.#entry(from), this.#entry(to));
  }

  /** Removes what is no folder; succeeds when it is gone. */
  removeFile(name: EntryName): void {
    this.#before("unlink");
    tolerating("ENOENT", () => unlinkSync(this.#entry(name)));
  }

  /** Removes an empty folder; succeeds when it is gone. */
  removeFolder(name: EntryName): void {
    this.#before("rmdir");
    tolerating("ENOENT", () => rmdirSync(this.#entry(name)));
  }

  /** Removes an entry with all that is in it, however its bits are. */
  removeAll(name: EntryName): void {
    const facts = this.stat(name);
    if (facts?.isDirectory() !== true) return facts && this.removeFile(name);
    if ((facts.mode & 0o700n) !== 0o700n) this.setMode(name, 0o700);
    using inner = this.folder(name);
    for (const entry of inner?.names(Infinity) ?? []) inner?.removeAll(entry);
    this.removeFolder(name);
  }

  /** Puts names on the disk. */
  sync(): void {
    this.#before("sync");
    const descriptor = openSync(`${this.#self}/.`, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  get #self(): string {
    return `/proc/self/fd/${this.#descriptor}`;
  }

  /** One component, so that the folder is never left. */
  #entry(name: EntryName): Buffer {
    const bytes = Buffer.from(name);
    const text = bytes.toString("latin1");
    if (text === "" || text === "." || text === ".." || text.includes("/") || bytes.includes(0))
      throw new TypeError("not the name of an entry");
    return Buffer.concat([Buffer.from(`${this.#self}/`), bytes]);
  }
}

function tolerating(code: string, attempt: () => void): void {
  try {
    attempt();
  } catch (error) {
    if (errorCode(error) !== code) throw error;
  }
}
