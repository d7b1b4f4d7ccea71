import { chmod, lchown, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

import { isProtectedFileName } from "../../domain/rights/protected-file.ts";
import type { ContainerUser } from "../profile/profile.ts";

/**
 * Gives a group's folder, and what is in it, to the user that its container will run as. To be called while no
 * container of the group runs. Does nothing when the folder belongs to that user already, so it costs one look. Links
 * are given away themselves, never what they lead to. Protected files stay the host's. A host that is not root cannot
 * give files away: there the folder is opened to all users instead, inside a home that only the host's user can enter.
 */
export async function giveFolderTo(folder: string, user: ContainerUser, hostUid: number): Promise<void> {
  const facts = await lstat(folder);
  if (facts.uid === user.uid && facts.gid === user.gid) return;
  if (hostUid !== 0) {
    if (facts.uid === hostUid) await chmod(folder, 0o777);
    return;
  }
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  // The folder itself comes last: after an interruption it still looks as if nothing had been done.
  for (const { parentPath, name } of entries) {
    if (parentPath !== folder || !isProtectedFileName(name)) await lchown(join(parentPath, name), user.uid, user.gid);
  }
  await lchown(folder, user.uid, user.gid);
}
