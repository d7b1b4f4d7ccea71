import { lstat, opendir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";

import type { BytesSearch } from "./search-bytes.ts";

/** Limits of the search; the rest is not examined. */
const limits = { files: 20_000, fileBytes: 64 * 1024 * 1024, named: 200 };

/**
 * Files below `root`, except those in `except`, that hold one of `texts` as bytes. For the separate process of
 * `searchBytes`.
 */
export async function filesWithBytes({ root, except, texts }: BytesSearch): Promise<string[]> {
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
