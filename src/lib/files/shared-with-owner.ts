import { randomUUID } from "node:crypto";
import { chmod, chown } from "node:fs/promises";

import type { HostileFolder } from "./open-hostile-file.ts";

/**
 * Makes a file of the host's one of the folder's owner. One that only the host's user could write would pass for the
 * operator's, wherever it is moved; where the host is not root, all may write it.
 */
export async function giveFileTo(folder: HostileFolder, path: string, hostUid: number): Promise<void> {
  await chmod(path, hostUid === 0 ? 0o644 : 0o666);
  if (hostUid !== 0) return;
  const { uid, gid } = await folder.owner();
  await chown(path, uid, gid);
}

/**
 * Opens the folder of this name in somebody else's, made if it is missing: what is in its place is moved aside. It
 * belongs to the owner of the one around it, or is open to all where the host is not root. Undefined: whoever owns it
 * was quicker, and no folder can be had.
 */
export async function openFolderIn(
  around: HostileFolder,
  name: string,
  hostUid: number,
): Promise<HostileFolder | undefined> {
  const known = await around.openFolder(name);
  if (!known) await around.moveTo(name, around, `${name}.moved-${randomUUID()}`);
  if (!known) await around.makeFolder(name);
  const folder = known ?? (await around.openFolder(name));
  if (!folder) return undefined;
  try {
    const [wanted, actual] = await Promise.all([around.owner(), folder.owner()]);
    if (hostUid === 0 && (wanted.uid !== actual.uid || wanted.gid !== actual.gid)) await folder.giveTo(wanted);
    if (hostUid !== 0 && actual.uid === hostUid) await folder.openToAll();
    return folder;
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}
