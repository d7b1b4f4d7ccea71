import { constants, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";

import { openLogFile } from "../log-files.ts";
import { syncFolder } from "../../../lib/files/sync-folder.ts";

const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

/** A file that only grows, by whole writes: after a write that failed it is cut back to where it was. */
export class AppendOnlyFile implements AsyncDisposable {
  readonly #handle: FileHandle;
  #size: number;
  #hasTail = false;

  private constructor(handle: FileHandle, size: number) {
    this.#handle = handle;
    this.#size = size;
  }

  /** Makes the file, for its owner only, if it is new. */
  static async open(path: string): Promise<AppendOnlyFile> {
    const handle = await openLogFile(path, flags);
    try {
      const { size } = await handle.stat();
      if (size === 0) await syncFolder(dirname(path));
      return new AppendOnlyFile(handle, size);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Resolves when all of it is on disk. When it rejects, nothing of it will be there. */
  async append(bytes: Uint8Array): Promise<void> {
    await this.#cutTail();
    this.#hasTail = true;
    try {
      await this.#handle.appendFile(bytes);
      await this.#handle.datasync();
    } catch (error) {
      // On a full disk cutting works where writing does not; where it does not either, the next append tries again
      // first.
      await this.#cutTail().catch(() => {});
      throw error;
    }
    this.#size += bytes.length;
    this.#hasTail = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  async #cutTail(): Promise<void> {
    if (!this.#hasTail) return;
    await this.#handle.truncate(this.#size);
    await this.#handle.datasync();
    this.#hasTail = false;
  }
}
