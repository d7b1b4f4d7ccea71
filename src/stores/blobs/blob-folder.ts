import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { AppError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { HostileCopy } from "../../lib/files/open-hostile-file.ts";

/** A blob that no step refers to may be on its way into one. */
export const freshMs = 3_600_000;

type Copied = Extract<HostileCopy, { ok: true }>;

/**
 * Stores contents as files, each once: `<sha256[0:2]>/<sha256>`. A content is complete on disk before it gets its name,
 * and has its name before a step refers to it; a crash leaves at worst an unreferenced file.
 */
export class BlobFolder {
  readonly #folder: string;
  readonly #clock: Pick<Clock, "now">;
  /** Names are given and taken away one after another: what is kept anew is not removed as old at the same moment. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(folder: string, clock: Pick<Clock, "now">) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** Removes what an earlier life of the host was in the middle of writing. */
  static async open({ folder, clock }: { folder: string; clock: Pick<Clock, "now"> }): Promise<BlobFolder> {
    for (const name of await readdir(folder)) {
      if (name.endsWith(".new")) await rm(join(folder, name), { force: true });
    }
    return new BlobFolder(folder, clock);
  }

  /**
   * Keeps what `copy` writes to a new file, synced, if it is wanted. Gives what `copy` says of it, or undefined for
   * what is not wanted. From here on there is an hour to refer to it.
   */
  async keep(
    copy: (target: string) => Promise<HostileCopy>,
    isWanted: (copied: Copied) => boolean,
  ): Promise<HostileCopy | undefined> {
    const temporary = join(this.#folder, `${randomUUID()}.new`);
    try {
      const copied = await copy(temporary);
      if (!copied.ok) return copied;
      if (!isWanted(copied)) return undefined;
      await this.#inTurn(() => this.#place(temporary, copied.sha256));
      return copied;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** Reads a content. Throws `not_found` when it is missing and `store_failed` when it is damaged. */
  async read(sha256: string): Promise<Buffer> {
    const path = this.#pathOf(sha256);
    const bytes = await readFile(path).catch((cause: unknown) => {
      throw new AppError("not_found", `The blob ${path} cannot be read.`, { cause });
    });
    if (createHash("sha256").update(bytes).digest("hex") === sha256) return bytes;
    throw new AppError("store_failed", `The blob ${path} is damaged: its content is not what its name says.`, {
      fix: "put it back from a backup, or remove it; the model is told about it in words meanwhile",
    });
  }

  /** Removes contents that are older than an hour and not known. Returns how many. Stops between two when aborted. */
  async removeUnknown(
    known: (sha256s: readonly string[]) => Promise<ReadonlySet<string>>,
    signal: AbortSignal,
  ): Promise<number> {
    let removed = 0;
    for (const shard of await readdir(this.#folder)) {
      if (!/^[0-9a-f]{2}$/.test(shard)) continue;
      const names = await readdir(join(this.#folder, shard));
      const old = await Array.fromAsync(names, async (name) => ((await this.#isFresh(name)) ? [] : [name]));
      const candidates = old.flat().filter((name) => /^[0-9a-f]{64}$/.test(name));
      const needed = candidates.length === 0 ? new Set<string>() : await known(candidates);
      for (const name of candidates.filter((candidate) => !needed.has(candidate))) {
        if (signal.aborted) return removed;
        if (await this.#inTurn(() => this.#remove(name))) removed += 1;
      }
    }
    return removed;
  }

  async #place(temporary: string, sha256: string): Promise<void> {
    const shard = join(this.#folder, sha256.slice(0, 2));
    await mkdir(shard, { recursive: true, mode: 0o700 });
    // Over what is there: it is the same content, unless that one was damaged, and counts as new from now on.
    await rename(temporary, this.#pathOf(sha256));
    for (const folder of [shard, this.#folder]) {
      await using handle = await open(folder);
      await handle.sync();
    }
  }

  async #remove(sha256: string): Promise<boolean> {
    if (await this.#isFresh(sha256)) return false;
    await rm(this.#pathOf(sha256), { force: true });
    return true;
  }

  async #isFresh(sha256: string): Promise<boolean> {
    const facts = await stat(this.#pathOf(sha256)).catch(() => undefined);
    return facts !== undefined && this.#clock.now() - facts.mtimeMs < freshMs;
  }

  #pathOf(sha256: string): string {
    return join(this.#folder, sha256.slice(0, 2), sha256);
  }

  async #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
