import type { Stats } from "node:fs";

import { HostileFolder, type HostileRefusal } from "../../../lib/files/open-hostile-file.ts";
import { refusedTree, type SkillTreeFile, TreeLimits, treePathFault, type TreeReading } from "./skill-tree.ts";

export interface ReadTreeOptions {
  /** Users whose files count; undefined = any. Files that others could write to do not count either. */
  readonly owners?: readonly number[] | undefined;
  /** Entries at its top to ignore. */
  readonly leaveOut?: ReadonlySet<string> | undefined;
}

const words: Readonly<Record<HostileRefusal, string>> = {
  missing: "is gone",
  "bad-name": "has a name that cannot be used",
  link: "is a link",
  "not-a-file": "is neither a file nor a folder",
  "hard-linked": "is a hard link",
  "foreign-owner": "belongs to another user",
  "odd-mode": "has unusual permissions",
  "writable-by-others": "can be written by other users",
  "too-large": "is too large",
  unreadable: "cannot be read",
};

/**
 * Reads a folder that may change at any moment as a skill's tree: regular files and folders, within the limits.
 * Anything else refuses all of it. Throws `not_found` when there is no such folder.
 */
export async function readTree(folder: string, options: ReadTreeOptions = {}): Promise<TreeReading> {
  await using top = await HostileFolder.open(folder);
  const { uid } = await top.owner();
  if (options.owners?.includes(uid) === false) return refusedTree("", words["foreign-owner"]);
  const reader = new TreeReader(options);
  const fault = await reader.read(top, "");
  if (fault) return fault;
  const files = reader.files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  return { ok: true, tree: { files } };
}

type Fault = ReturnType<typeof refusedTree>;

class TreeReader {
  readonly files: SkillTreeFile[] = [];
  readonly #limits = new TreeLimits();
  readonly #options: ReadTreeOptions;

  constructor(options: ReadTreeOptions) {
    this.#options = options;
  }

  async read(folder: HostileFolder, prefix: string): Promise<Fault | undefined> {
    const { names } = await folder.list(this.#limits.entriesLeft + 1);
    for (const bytes of names.toSorted((one, other) => Buffer.compare(one, other))) {
      const name = bytes.toString("utf8");
      if (prefix === "" && this.#options.leaveOut?.has(name)) continue;
      const path = `${prefix}${name}`;
      if (!Buffer.from(name).equals(bytes)) return refusedTree(path, "has a name that is not UTF-8");
      const fault = treePathFault(path) ?? (await this.#entry(folder, name, path));
      if (typeof fault === "string") return refusedTree(path, fault);
      if (fault) return fault;
    }
    return undefined;
  }

  async #entry(folder: HostileFolder, name: string, path: string): Promise<Fault | string | undefined> {
    const stats = await folder.stat(name);
    if (!stats) return words.missing;
    if (stats.isSymbolicLink()) return words.link;
    const distrust = this.#distrust(stats);
    if (distrust) return words[distrust];
    if (stats.isDirectory()) return this.#folder(folder, name, path);
    if (!stats.isFile()) return words["not-a-file"];
    const maxBytes = this.#limits.bytesLeft;
    const reading = await folder.readFile(name, { maxBytes, refuse: (opened) => this.#distrust(opened) });
    if (!reading.ok) return reading.reason === "too-large" ? this.#limits.add(maxBytes + 1) : words[reading.reason];
    this.files.push({ path, bytes: reading.bytes, isExecutable: (stats.mode & 0o100) !== 0 });
    return this.#limits.add(reading.bytes.length);
  }

  async #folder(parent: HostileFolder, name: string, path: string): Promise<Fault | string | undefined> {
    const tooMuch = this.#limits.add(0);
    if (tooMuch !== undefined) return tooMuch;
    await using inner = await parent.openFolder(name);
    if (!inner) return words.unreadable;
    if (this.#options.owners?.includes((await inner.owner()).uid) === false) return words["foreign-owner"];
    return await this.read(inner, `${path}/`);
  }

  #distrust({ uid, mode }: Stats): HostileRefusal | undefined {
    const { owners } = this.#options;
    if (!owners) return undefined;
    if (!owners.includes(uid)) return "foreign-owner";
    return (mode & 0o022) === 0 ? undefined : "writable-by-others";
  }
}
