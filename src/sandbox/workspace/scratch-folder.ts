import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { hostUid } from "../../lib/process/host-uid.ts";
import type { ContainerUser } from "../profile/profile.ts";
import { giveFolderTo } from "./folder-owner.ts";

/** Returns the folder that a sub-agent may write to, in that of its session. */
export function scratchFolderOf(sessions: string, session: string): string {
  return join(sessions, session, "scratch");
}

/** Makes the scratch folder of a session, if it is missing, and gives it to the user of its container. */
export async function openScratchFolder(sessions: string, session: string, user: ContainerUser): Promise<string> {
  const folder = scratchFolderOf(sessions, session);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  await giveFolderTo(folder, user, hostUid());
  return folder;
}
