import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, rename, rm, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";

import { errorCode } from "../../../lib/app-error.ts";
import type { SkillTree } from "./skill-tree.ts";

const draftEnd = ".new";
/** Another group may be about to use what none has. */
const restMs = 60_000;

/**
 * The host's copies of skills, in folders named by hash: nobody can exchange a mounted one, and other content is
 * another folder.
 */
export class SkillCopies {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The folder with this tree, which is made if there is none. */
  async keep(tree: SkillTree, sha256: string): Promise<string> {
    const place = join(this.#folder, sha256);
    if (existsSync(place)) {
      const now = new Date();
      await utimes(place, now, now);
      return place;
    }
    await mkdir(this.#folder, { recursive: true, mode: 0o755 });
    const draft = join(this.#folder, `${randomUUID()}${draftEnd}`);
    try {
      await writeTree(draft, tree);
      await rename(draft, place);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      // Two that make it at once.
      if (!["ENOTEMPTY", "EEXIST"].includes(errorCode(error))) throw error;
    }
    return place;
  }

  /** Removes copies that no group uses, and unfinished ones, except very recent ones. */
  async retain(used: ReadonlySet<string>): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    const until = Date.now() - restMs;
    for (const name of names.filter((each) => !used.has(each))) {
      const path = join(this.#folder, name);
      const stats = await lstat(path).catch(() => undefined);
      if (stats && stats.mtimeMs < until) await rm(path, { recursive: true, force: true });
    }
  }
}

/** Writes a tree as a new folder that everybody may read, and sees it on the disk. */
export async function writeTree(folder: string, { files }: SkillTree): Promise<void> {
  const folders = new Set([folder, ...files.flatMap(({ path }) => foldersOf(folder, path))]);
  for (const each of folders) {
    await mkdir(each, { mode: 0o755 });
    await chmod(each, 0o755);
  }
  for (const { path, bytes, isExecutable } of files) {
    await using file = await open(join(folder, path), "wx", 0o644);
    await file.writeFile(bytes);
    await file.chmod(isExecutable ? 0o755 : 0o644);
    await file.sync();
  }
}

/** From the outermost one inwards. */
function foldersOf(top: string, path: string): string[] {
  const parent = dirname(path);
  return parent === "." ? [] : [...foldersOf(top, parent), join(top, parent)];
}
