import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { filesFolder } from "../../src/protocol/paths.ts";

/** Files that results refer to, in the mailbox, until the host has taken them. */
export class ResultFiles {
  readonly #path: string;

  constructor(toHost: string) {
    this.#path = join(toHost, filesFolder);
  }

  /** Keeps a content for the host. Returns what a result calls it. */
  add(content: Uint8Array): string {
    mkdirSync(this.#path, { recursive: true });
    // A host that is neither root nor of our uid has to take files out. Nobody else gets to the mailbox.
    chmodSync(this.#path, 0o777);
    const name = crypto.randomUUID();
    writeFileSync(join(this.#path, name), content, { mode: 0o644, flag: "wx" });
    return name;
  }

  /** Removes what no host is going to ask for any more. */
  clear(): void {
    rmSync(this.#path, { recursive: true, force: true });
  }
}
