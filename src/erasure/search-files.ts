import { lstat, opendir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";

import { HostileFolder } from "../lib/files/open-hostile-file.ts";

/** What is looked through at most; the rest is not known of. */
const limits = { files: 20_000, fileBytes: 64 * 1024 * 1024, groupFileBytes: 2 * 1024 * 1024, depth: 32, named: 200 };

/**
 * Files of a folder that belongs to an agent in which `isSuspicious` finds something, by their paths in it. No link is followed.
 */
export async function searchGroupFolder(path: string, isSuspicious: (text: string) => boolean): Promise<string[]> {
  const found: string[] = [];
  let left = limits.files;
  const visit = async (folder: HostileFolder, prefix: string, depth: number): Promise<void> => {
    const { names } = await folder.list(Math.max(0, left));
    for (const name of names) {
      if ((left -= 1) < 0 || found.length >= limits.named) return;
      const shown = join(prefix, name.toString("utf8"));
      await using below = depth < limits.depth ? await folder.openFolder(name) : undefined;
      if (below) await visit(below, shown, depth + 1);
      else if (isSuspicious(shown) || isSuspicious(await textOf(folder, name))) found.push(shown);
    }
  };
  const folder = await HostileFolder.open(path).catch(() => undefined);
  if (!folder) return [];
  await using opened = folder;
  await visit(opened, "", 0);
  return found;
}

async function textOf(folder: HostileFolder, name: Buffer): Promise<string> {
  const read = await folder.readFile(name, { maxBytes: limits.groupFileBytes, cut: true });
  return read.ok ? read.bytes.toString("utf8") : "";
}

/** Files below `root`, but for those in `except`, that hold one of these texts as bytes. */
export async function searchBytes(
  root: string,
  except: readonly string[],
  texts: readonly string[],
): Promise<string[]> {
  if (texts.length === 0) return [];
  const needles = [...new Set(texts.flatMap(formsOf))].map((text) => Buffer.from(text));
  const found: string[] = [];
  let left = limits.files;
  const visit = async (folder: string): Promise<void> => {
    const entries = await opendir(folder).catch(() => undefined);
    if (!entries) return;
    for await (const entry of entries) {
      if ((left -= 1) < 0 || found.length >= limits.named) return;
      const path = join(folder, entry.name);
      if (except.includes(path)) continue;
      if (entry.isDirectory()) await visit(path);
      else if (entry.isFile() && (await holdsOne(path, needles))) found.push(relative(root, path));
    }
  };
  await visit(root);
  return found.toSorted();
}

async function holdsOne(path: string, needles: readonly Buffer[]): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats?.isFile() || stats.size > limits.fileBytes) return false;
  const bytes = await readFile(path).catch(() => Buffer.alloc(0));
  return needles.some((needle) => bytes.includes(needle));
}

/** A text as it stands in a file, in JSON, and in JSON that is all ASCII. */
function formsOf(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return [text, json, ascii];
}
