import { existsSync } from "node:fs";
import { lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { errorCode } from "../lib/app-error.ts";
import { hashOfFolder } from "./install/hash-folder.ts";
import { readPluginLock, withPluginLock } from "./install/lock-file.ts";

/** Folders of plugins; absolute paths. */
export interface PluginFolders {
  /** A folder for each that is installed, and what is on its way there. */
  readonly installed: string;
  readonly lock: string;
}

export function pluginFolders(paths: Readonly<Record<"plugins" | "pluginLock", string>>): PluginFolders {
  return { installed: paths.plugins, lock: paths.pluginLock };
}

/** Folder of `installed` for plugins on their way into it. */
export const incomingFolder = ".incoming";
/** Beginning of the names of folders for what was fetched. */
export const fetchedPrefix = ".fetched-";
const oldPrefix = ".old-";
/** Lifetime of downloads left by a killed command. */
const fetchedMs = 60 * 60 * 1000;

/**
 * Puts in its place what the lock file says is installed, and removes what is left of anything else. The caller holds
 * the lock.
 */
export async function finishInstalling({ installed, lock }: PluginFolders): Promise<void> {
  if (!existsSync(installed)) return;
  const incoming = join(installed, incomingFolder);
  const { plugins } = await readPluginLock(lock);
  for (const name of existsSync(incoming) ? await readdir(incoming) : []) {
    const sha256 = await hashOfFolder(join(incoming, name)).catch((): undefined => undefined);
    if (sha256 === undefined || sha256 !== plugins[name]?.sha256) continue;
    const old = join(installed, `${oldPrefix}${name}`);
    await rm(old, { recursive: true, force: true });
    if (existsSync(join(installed, name))) await rename(join(installed, name), old);
    await rename(join(incoming, name), join(installed, name));
  }
  for (const name of await readdir(installed))
    if (await isLeft(installed, name, plugins)) await rm(join(installed, name), { recursive: true, force: true });
}

async function isLeft(installed: string, name: string, plugins: object): Promise<boolean> {
  if (name === incomingFolder || name.startsWith(oldPrefix)) return true;
  if (!name.startsWith(fetchedPrefix)) return !name.startsWith(".") && !Object.hasOwn(plugins, name);
  const { mtimeMs } = await lstat(join(installed, name));
  return mtimeMs < Date.now() - fetchedMs;
}

/** The same at a start, for what a command that was killed has left; while another one is at work, that one will. */
export async function finishWhatWasLeft(places: PluginFolders): Promise<void> {
  if (!existsSync(join(places.installed, incomingFolder))) return;
  try {
    await withPluginLock(places.lock, () => finishInstalling(places));
  } catch (error) {
    if (errorCode(error) !== "conflict") throw error;
  }
}
