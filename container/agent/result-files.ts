import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { limits } from "../../src/protocol/limits.ts";
import { filesFolder } from "../../src/protocol/paths.ts";
import { ToolError } from "../../src/protocol/tools.ts";

/** Files that results refer to, in the mailbox, until the host has taken them. */
export class ResultFiles {
  readonly #path: string;

  constructor(toHost: string) {
    this.#path = join(toHost, filesFolder);
  }

  /**
   * Keeps a content for the host. Returns what a result calls it. Throws ToolError when too much is waiting for the
   * host.
   */
  add(content: Uint8Array): string {
    mkdirSync(this.#path, { recursive: true });
    const waiting = readdirSync(this.#path).reduce((sum, name) => sum + statSync(join(this.#path, name)).size, 0);
    if (waiting + content.length > limits.resultFileBytes)
      throw new ToolError("Too much is shown at once. Look at fewer files at a time, or at smaller ones.");
    // A host that is neither root nor of our uid has to take files out. Nobody else gets to the mailbox.
    chmodSync(this.#path, 0o777);
    const name = crypto.randomUUID();
    writeFileSync(join(this.#path, name), content, { mode: 0o644, flag: "wx" });
    return name;
  }

  /** Removes files that no host will ask for. */
  clear(): void {
    rmSync(this.#path, { recursive: true, force: true });
  }
}
