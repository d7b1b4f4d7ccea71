import { randomBytes } from "node:crypto";
import { chmod, cp, lchown, lstat, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { groupOfFolder, isGroupName } from "../../domain/chats/group.ts";
import { isProtectedFileName } from "../../domain/rights/protected-file.ts";
import { AppError } from "../../lib/app-error.ts";
import { requireRealFolder } from "./home.ts";

/** Owner of a new folder: the user of the group's container. */
export interface FolderOwner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Returns the group's folder, creating it from `groups/main` or `groups/_template` if missing. An existing one is never
 * touched: the agent can write to it. A new one belongs to `owner`, except its protected files; a host without root
 * opens it to everybody, inside a home that only it can enter.
 */
export async function ensureGroupFolder(
  folders: { readonly groups: string; readonly checkout: string },
  group: { readonly name: string; readonly main: boolean },
  owner?: FolderOwner,
): Promise<string> {
  if (!isGroupName(groupOfFolder(group.name))) {
    throw new AppError("bad_input", `"${group.name}" cannot be a group's name.`, {
      fix: "Use lower case letters, digits, - and _, starting with a letter or digit; `global` is taken.",
    });
  }
  const folder = join(folders.groups, group.name);
  const [ofMain, ofOthers] = groupTemplates(folders.checkout);
  await copyOnce(group.main ? ofMain : ofOthers, folder, (copy) => handOver(copy, owner));
  return folder;
}

/** Templates of main groups' and other groups' folders. */
export function groupTemplates(checkout: string): readonly [string, string] {
  return [join(checkout, "groups", "main"), join(checkout, "groups", "_template")];
}

/** Creates `<home>/global` from the checkout's `groups/global` if missing. Readable by every container's user. */
export async function ensureGlobalFolder(global: string, checkout: string): Promise<void> {
  await copyOnce(join(checkout, "groups", "global"), global, (copy) => setModes(copy, { folder: 0o755, file: 0o644 }));
}

/** Creates `<home>/agents`, the operator's profiles, from the checkout's `agents` if missing. Not mounted anywhere. */
export async function ensureProfilesFolder(agents: string, checkout: string): Promise<void> {
  await copyOnce(join(checkout, "agents"), agents, (copy) => setModes(copy, { folder: 0o700, file: 0o600 }));
}

/** Copies atomically by rename, so that nobody sees an incomplete folder, even after a crash. */
async function copyOnce(source: string, target: string, finish: (copy: string) => Promise<void>): Promise<void> {
  if ((await lstat(target).catch(() => undefined)) !== undefined) {
    await requireRealFolder(target);
    return;
  }
  const copy = `${target}.${randomBytes(4).toString("hex")}.new`;
  try {
    await cp(source, copy, { recursive: true, errorOnExist: true, verbatimSymlinks: true });
    await finish(copy);
    await rename(copy, target);
  } catch (error) {
    await rm(copy, { recursive: true, force: true });
    const made = await lstat(target).catch(() => undefined);
    if (made === undefined) throw error;
  }
}

async function handOver(copy: string, owner: FolderOwner | undefined): Promise<void> {
  const ownUid = process.geteuid?.();
  if (owner === undefined || owner.uid === ownUid) {
    await setModes(copy, { folder: 0o755, file: 0o644 });
    return;
  }
  if (ownUid !== 0) {
    await setModes(copy, { folder: 0o777, file: 0o666, protectedFile: 0o644 });
    return;
  }
  await setModes(copy, { folder: 0o755, file: 0o644 });
  for (const path of await everythingIn(copy)) {
    if (!isProtected(copy, path)) await lchown(path, owner.uid, owner.gid);
  }
}

async function setModes(
  copy: string,
  { folder, file, protectedFile = file }: { folder: number; file: number; protectedFile?: number },
): Promise<void> {
  for (const path of await everythingIn(copy)) {
    const found = await lstat(path);
    if (found.isDirectory()) await chmod(path, folder);
    else if (found.isFile()) await chmod(path, isProtected(copy, path) ? protectedFile : file);
  }
}

function isProtected(copy: string, path: string): boolean {
  return dirname(path) === copy && isProtectedFileName(basename(path));
}

async function everythingIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  return [folder, ...entries.map((entry) => join(folder, entry))];
}
