import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { AppError } from "../../lib/app-error.ts";
import type { HostileFolder } from "../../lib/files/open-hostile-file.ts";

const draftEnd = ".new";
/** Ending of a file with an allowed change that is not in place yet; survives a restart. */
const stagedEnd = ".staged";
const readableByAll = 0o644;

/**
 * The host's own copies of a group's protected files, in a folder that no container can reach: what is mounted from
 * here cannot be exchanged by an agent while the engine, as root, looks for it.
 */
export class FileCopies {
  readonly #path: string;

  /** The folder is made when something is written. */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Removes what an earlier life of the host was in the middle of writing: it may be a second name of a file in use.
   */
  async tidy(): Promise<void> {
    const names = await readdir(this.#path).catch(() => []);
    for (const name of names) if (name.endsWith(draftEnd)) await rm(this.pathOf(name), { force: true });
  }

  pathOf(name: string): string {
    return join(this.#path, name);
  }

  /**
   * Reads a copy synchronously, as each model call needs it and the thread pool would take ten times as long; undefined
   * when missing.
   */
  read(name: string): Buffer | undefined {
    const path = this.pathOf(name);
    return existsSync(path) ? readFileSync(path) : undefined;
  }

  /** Containers that have the former copy keep it. */
  async write(name: string, bytes: Uint8Array): Promise<void> {
    await rename(await this.#draft(bytes), this.pathOf(name));
  }

  async remove(name: string): Promise<void> {
    await rm(this.pathOf(name), { force: true });
  }

  /** Creates a file with this content, owned by the host, in someone else's folder. Never replaces anything. */
  async putInto(folder: HostileFolder, name: string, bytes: Uint8Array): Promise<void> {
    const draft = await this.#draft(bytes);
    try {
      await folder.linkIn(draft, name);
    } finally {
      await rm(draft, { force: true });
    }
  }

  /** Keeps a new content for `placeStaged`, also over restarts. */
  async stage(key: string, bytes: Uint8Array): Promise<void> {
    await rename(await this.#draft(bytes), this.pathOf(`${key}${stagedEnd}`));
  }

  /** Forgets it. */
  async unstage(key: string): Promise<void> {
    await this.remove(`${key}${stagedEnd}`);
  }

  /** Moves the staged file over this name in someone else's folder. False when already in place. */
  async placeStaged(key: string, folder: HostileFolder, name: string): Promise<boolean> {
    const path = this.pathOf(`${key}${stagedEnd}`);
    if (!existsSync(path)) return false;
    if (!(await folder.putOver(path, name))) {
      // A folder has the place.
      await folder.moveTo(name, folder, `${name}.moved-${randomUUID()}`);
      if (!(await folder.putOver(path, name))) throw new AppError("conflict", `${name} cannot be put in its place.`);
    }
    return true;
  }

  /** A complete file that is on the disk. */
  async #draft(bytes: Uint8Array): Promise<string> {
    await mkdir(this.#path, { recursive: true });
    await chmod(this.#path, 0o755);
    const path = this.pathOf(`${randomUUID()}${draftEnd}`);
    await using file = await open(path, "wx", readableByAll);
    await file.chmod(readableByAll);
    await file.writeFile(bytes);
    await file.sync();
    return path;
  }
}
