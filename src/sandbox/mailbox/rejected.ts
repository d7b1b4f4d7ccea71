import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { HostileFolder } from "../../lib/files/open-hostile-file.ts";

/** Maximum files kept for the operator after a violation, so that a hostile agent cannot fill the disk. */
const keptFiles = 32;
const keptBytes = 4_096;

/**
 * Keeps refused messages aside for the operator: reason, name, and the beginning of the content, as one JSON object
 * each.
 */
export class RejectedMessages {
  readonly #path: string;
  #kept: number;

  private constructor(path: string, kept: number) {
    this.#path = path;
    this.#kept = kept;
  }

  static async open(path: string): Promise<RejectedMessages> {
    return new RejectedMessages(path, (await readdir(path)).length);
  }

  /** The first ones are kept, because they show how it began. */
  async keep(source: HostileFolder, name: Buffer, reason: string): Promise<void> {
    if (this.#kept >= keptFiles) return;
    this.#kept += 1;
    const reading = await source.readFile(name, { maxBytes: keptBytes, cut: true });
    const content = reading.ok ? reading.bytes.toString("utf8") : undefined;
    const record = { name: printableName(name), reason, content };
    await writeFile(join(this.#path, `${this.#kept}.json`), `${JSON.stringify(record)}\n`, { mode: 0o600 });
  }
}

/** A hostile name for people and logs: printable ASCII stays, every other byte is written as `\xNN`. */
export function printableName(name: Buffer): string {
  return name
    .toString("latin1")
    .replaceAll(/[^\x20-\x5b\x5d-\x7e]/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
