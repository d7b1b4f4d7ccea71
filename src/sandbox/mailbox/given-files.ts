import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { errorCode } from "../../lib/app-error.ts";
import { mebibyte } from "../../lib/text/bytes.ts";
import { givenFilePattern } from "../../protocol/pages.ts";
import { filesFolder } from "../../protocol/paths.ts";

/** The newest that are kept of what an agent was given. */
const maxFiles = 32;
const maxBytes = 64 * mebibyte;

/** Files that the agent may read and not change, beside the host's messages to it: `files/1.html`, `files/2.pdf` … */
export class GivenFiles {
  readonly #folder: string;
  #last: Promise<unknown> = Promise.resolve();
  #number: number | undefined;

  constructor(toAgent: string) {
    this.#folder = join(toAgent, filesFolder);
  }

  /** Resolves with the file's name once it can be read whole. One that is older than the newest few goes. */
  add(content: Uint8Array, extension: string): Promise<string> {
    const added = this.#last.then(() => this.#add(content, extension));
    this.#last = added.catch(() => undefined);
    return added;
  }

  async #add(content: Uint8Array, extension: string): Promise<string> {
    await mkdir(this.#folder, { recursive: true });
    // Whatever the host's umask takes away: nobody but the container gets to the mailbox.
    await chmod(this.#folder, 0o755);
    const number = (this.#number ?? (await this.#newest())) + 1;
    this.#number = number;
    const name = `${number}.${extension}`;
    const path = join(this.#folder, name);
    await writeFile(`${path}.part`, content, { mode: 0o644 });
    await chmod(`${path}.part`, 0o644);
    await rename(`${path}.part`, path);
    await this.#removeOldest();
    return name;
  }

  /** Returns the newest file of an earlier host. */
  async #newest(): Promise<number> {
    const numbers = (await readdir(this.#folder)).map((name) => Number.parseInt(name, 10));
    return Math.max(0, ...numbers.filter((number) => Number.isSafeInteger(number)));
  }

  async #removeOldest(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => givenFilePattern.test(name));
    const sorted = names.toSorted((one, other) => Number.parseInt(other, 10) - Number.parseInt(one, 10));
    let bytes = 0;
    for (const [index, name] of sorted.entries()) {
      const path = join(this.#folder, name);
      bytes += await sizeOf(path);
      // The newest one is kept whatever its size.
      if (index > 0 && (index >= maxFiles || bytes > maxBytes)) await rm(path, { force: true });
    }
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return 0;
    throw error;
  }
}
