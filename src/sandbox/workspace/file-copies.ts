import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { HostileFolder } from "../../lib/open-hostile-file.ts";

/** Larger ones are refused. */
export const maxBytes = 256 * 1024;

const draftEnd = ".new";
const readableByAll = 0o644;

/**
 * The host's own copies of a group's protected files, in a folder that no container can reach: what is mounted from here cannot
 * be exchanged by an agent while the engine, as root, looks for it.
 */
export class FileCopies implements AsyncDisposable {
  readonly #path: string;
  readonly #folder: HostileFolder;

  private constructor(path: string, folder: HostileFolder) {
    this.#path = path;
    this.#folder = folder;
  }

  /** Makes the folder if it is missing. */
  static async open(path: string): Promise<FileCopies> {
    await mkdir(path, { recursive: true });
    return new FileCopies(path, await HostileFolder.open(path));
  }

  /** Removes what an earlier life of the host was in the middle of writing: it may be a second name of a file in use. */
  static async tidy(path: string): Promise<void> {
    const names = await readdir(path).catch(() => []);
    for (const name of names) if (name.endsWith(draftEnd)) await rm(join(path, name), { force: true });
  }

  pathOf(name: string): string {
    return join(this.#path, name);
  }

  /** Undefined: there is none. */
  async read(name: string): Promise<Buffer | undefined> {
    const reading = await this.#folder.readFile(name, { maxBytes });
    return reading.ok ? reading.bytes : undefined;
  }

  /** Containers that have the former copy keep it. */
  async write(name: string, bytes: Uint8Array): Promise<void> {
    await chmod(this.#path, 0o755);
    await rename(await this.#draft(bytes), this.pathOf(name));
  }

  async remove(name: string): Promise<void> {
    await rm(this.pathOf(name), { force: true });
  }

  /** Puts a new file with this content into somebody else's folder, where it belongs to the host. Nothing is ever replaced there. */
  async putInto(folder: HostileFolder, name: string, bytes: Uint8Array): Promise<void> {
    const draft = await this.#draft(bytes);
    try {
      await folder.linkIn(draft, name);
    } finally {
      await rm(draft, { force: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }

  /** A complete file that is on the disk. */
  async #draft(bytes: Uint8Array): Promise<string> {
    const path = this.pathOf(`${randomUUID()}${draftEnd}`);
    await using file = await open(path, "wx", readableByAll);
    await file.chmod(readableByAll);
    await file.writeFile(bytes);
    await file.sync();
    return path;
  }
}
