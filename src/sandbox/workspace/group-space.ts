import { existsSync } from "node:fs";
import { join } from "node:path";

import { groupOfFolder } from "../../domain/chats/group.ts";
import type { FolderUsage } from "../../domain/turns/limit.ts";
import { roomOnDisk } from "../../lib/files/free-space.ts";
import { measureFolder } from "./folder-usage.ts";

/** Time after which a folder counts as too large to be measured. */
const measureMs = 20_000;

interface GroupSpaceOptions {
  /** The folder that holds the folders of groups. */
  readonly folder: string;
  /** Returns the names of the folders of a group's other agents. */
  readonly agentFolders: (group: string) => readonly string[];
  /** Folder of what agents changed in mounts with review, by group. */
  readonly reviews: string;
  readonly quotaBytes: () => number;
  /** Returns the bytes that stay free on the disk. */
  readonly reserveBytes: () => number;
}

/** Disk space of groups: all agents of a group share its quota. */
export class GroupSpace {
  readonly #options: GroupSpaceOptions;

  constructor(options: GroupSpaceOptions) {
    this.#options = options;
  }

  get quotaBytes(): number {
    return this.#options.quotaBytes();
  }

  /**
   * Measures the folders of the group's agents together, and `more` folders; undefined when the signal aborts before
   * they are measured.
   */
  async measure(group: string, signal: AbortSignal, more: readonly string[] = []): Promise<FolderUsage | undefined> {
    const { folder, agentFolders, reviews } = this.#options;
    const folders = [
      ...[group, ...agentFolders(group)].map((name) => join(folder, name)),
      join(reviews, group),
      ...more,
    ];
    let [bytes, entries] = [0, 0];
    for (const path of folders.filter((each) => existsSync(each))) {
      const usage = await measureFolder(path, signal);
      if (!usage) return undefined;
      [bytes, entries] = [bytes + usage.bytes, entries + usage.entries];
    }
    return { bytes, entries };
  }

  /** Returns the bytes that the agents of a group may still write, given the folder of one of them. */
  async roomIn(agentFolder: string): Promise<number> {
    const { folder, quotaBytes, reserveBytes } = this.#options;
    const usage = await this.measure(groupOfFolder(agentFolder), AbortSignal.timeout(measureMs));
    const left = quotaBytes() - (usage?.bytes ?? Infinity);
    return Math.min(left, await roomOnDisk(folder, reserveBytes()));
  }
}
