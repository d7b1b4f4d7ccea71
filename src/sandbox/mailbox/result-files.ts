import type { HostileCopy, HostileFolder } from "../../lib/files/open-hostile-file.ts";
import { limits } from "../../protocol/limits.ts";
import { filesFolder } from "../../protocol/paths.ts";

/** The agent's folder with files of its results. Made by the agent, and hostile. */
export class ResultFiles {
  readonly #toHost: HostileFolder;
  readonly #ownerUid: number;

  /** `toHost` stays its owner's. */
  constructor(toHost: HostileFolder, ownerUid: number) {
    this.#toHost = toHost;
    this.#ownerUid = ownerUid;
  }

  /** Moves a file to a new one of ours: copies it as it is at this moment, and removes it whatever it was. */
  async take(name: string, target: string, maxBytes: number): Promise<HostileCopy> {
    await using folder = await this.#toHost.openFolder(filesFolder);
    if (!folder) return { ok: false, reason: "missing" };
    const copied = await folder.copyFile(name, target, { maxBytes, ownerUid: this.#ownerUid });
    await folder.remove(name);
    return copied;
  }

  /**
   * Returns the disk usage; `inOrder` is false with entries that are not files, which could hold any amount, or too
   * many.
   */
  async usage(): Promise<{ readonly bytes: number; readonly inOrder: boolean }> {
    await using folder = await this.#toHost.openFolder(filesFolder);
    if (!folder) return { bytes: 0, inOrder: true };
    const { names, complete } = await folder.list(limits.resultFiles);
    let bytes = 0;
    for (const name of names) {
      const facts = await folder.stat(name);
      if (facts && !facts.isFile()) return { bytes, inOrder: false };
      bytes += (facts?.blocks ?? 0) * 512;
    }
    return { bytes, inOrder: complete };
  }
}
