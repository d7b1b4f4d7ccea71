import { createHash } from "node:crypto";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

import { AppError, errorCode } from "../app-error.ts";
import { digestOfFile } from "./file-digest.ts";

export interface TreeBounds {
  readonly entries: number;
  readonly bytes: number;
  /** Folders inside each other. */
  readonly depth: number;
}

interface TreeFile {
  readonly path: string;
  readonly isExecutable: boolean;
}

/** Files that are read at the same time. */
const atOnce = 16;

/**
 * Identifies all files below a folder: their paths, their bytes, and which of them can be run; SHA-256 in hex. For what
 * is neither a file nor a folder, and for what goes beyond the bounds, it throws what `refuse` makes of the path and
 * the reason ("is a link"); `not_found` when there is no such folder.
 */
export async function hashTree(
  folder: string,
  bounds: TreeBounds,
  refuse: (path: string, why: string) => Error,
): Promise<string> {
  const files = await listFiles(folder, bounds, refuse);
  const digests: string[] = [];
  let next = 0;
  const read = async (): Promise<void> => {
    for (let index = next++; index < files.length; index = next++)
      digests[index] = (await digestOfFile(join(folder, files[index]?.path ?? ""))).sha256;
  };
  await Promise.all(Array.from({ length: atOnce }, read));
  const hash = createHash("sha256");
  for (const [index, { path, isExecutable }] of files.entries())
    hash.update(`${path}\0${isExecutable ? "x" : "-"}\0${digests[index] ?? ""}\n`);
  return hash.digest("hex");
}

async function listFiles(
  folder: string,
  most: TreeBounds,
  refuse: (path: string, why: string) => Error,
): Promise<readonly TreeFile[]> {
  const files: TreeFile[] = [];
  let [bytes, entries] = [0, 0];
  const visit = async (prefix: string, depth: number): Promise<void> => {
    if (depth > most.depth) throw refuse(prefix, `lies more than ${most.depth} folders deep`);
    for (const name of await namesIn(join(folder, prefix))) {
      const path = `${prefix}${name}`;
      const found = await lstat(join(folder, path));
      entries += 1;
      bytes += found.isFile() ? found.size : 0;
      if (entries > most.entries) throw refuse(path, `is one of more than ${most.entries} files and folders`);
      if (bytes > most.bytes) throw refuse(path, `makes more than ${most.bytes / 1024 / 1024} MiB`);
      if (found.isDirectory()) await visit(`${path}/`, depth + 1);
      else if (found.isFile()) files.push({ path, isExecutable: (found.mode & 0o100) !== 0 });
      else throw refuse(path, found.isSymbolicLink() ? "is a link" : "is neither a file nor a folder");
    }
  };
  await visit("", 0);
  return files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (cause) {
    if (errorCode(cause) !== "ENOENT") throw cause;
    throw new AppError("not_found", `There is no folder ${folder}.`, { cause });
  }
}
