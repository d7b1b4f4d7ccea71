import { mkdir, readdir, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

import { installEmbedder } from "../../src/abilities/memory/embedding/install-embedder.ts";
import { isModelInstalled } from "../../src/abilities/memory/embedding/local-embedder.ts";
import { localModel } from "../../src/abilities/memory/embedding/model-files.ts";

/** Folder of the local model for `npm run test:model`: once on a machine, for all checkouts. */
export function cachedModelFolder(): string {
  const set = process.env["XDG_CACHE_HOME"];
  const cache = set === undefined || set === "" ? join(homedir(), ".cache") : set;
  return join(cache, "crabpot", "models", localModel.name);
}

/**
 * Fetches the model where it is missing, and links its files into `folder`: what a test replaces there stays its
 * own.
 */
export async function linkModel(folder: string): Promise<void> {
  const cached = cachedModelFolder();
  if (!(await isModelInstalled(cached))) await installEmbedder({ folder: cached, variables: process.env });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(cached)) await symlink(join(cached, name), join(folder, name));
}
