import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { HostileFolder } from "../../lib/files/open-hostile-file.ts";

/** Limits of the search; the rest is not examined. */
const limits = { files: 20_000, groupFileBytes: 2 * 1024 * 1024, depth: 32, named: 200 };

/** Search in an agent's folder. */
export interface FolderSearch {
  readonly isSuspicious: (text: string) => boolean;
  /** Templates of the folder: unchanged parts hold nobody's words. */
  readonly templates: readonly string[];
}

/**
 * Files of a folder that belongs to an agent in which `isSuspicious` finds something, by their paths in it. No link is
 * followed.
 */
export async function searchGroupFolder(path: string, { isSuspicious, templates }: FolderSearch): Promise<string[]> {
  const found: string[] = [];
  let left = limits.files;
  const visit = async (folder: HostileFolder, prefix: string, depth: number): Promise<void> => {
    const { names } = await folder.list(Math.max(0, left));
    for (const name of names) {
      if ((left -= 1) < 0 || found.length >= limits.named) return;
      const shown = join(prefix, name.toString("utf8"));
      await using below = depth < limits.depth ? await folder.openFolder(name) : undefined;
      if (below) await visit(below, shown, depth + 1);
      else {
        const text = await textOf(folder, name);
        if ((isSuspicious(shown) || isSuspicious(text)) && !(await isUntouched(templates, shown, text)))
          found.push(shown);
      }
    }
  };
  const folder = await HostileFolder.open(path).catch(() => undefined);
  if (!folder) return [];
  await using opened = folder;
  await visit(opened, "", 0);
  return found;
}

async function isUntouched(templates: readonly string[], name: string, text: string): Promise<boolean> {
  for (const template of templates)
    if ((await readFile(join(template, name), "utf8").catch(() => undefined)) === text) return true;
  return false;
}

async function textOf(folder: HostileFolder, name: Buffer): Promise<string> {
  const read = await folder.readFile(name, { maxBytes: limits.groupFileBytes, cut: true });
  return read.ok ? read.bytes.toString("utf8") : "";
}
