import { chmod, chown, mkdir, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";

import { HostileFolder } from "../../lib/files/open-hostile-file.ts";
import { mailboxFolders } from "../../protocol/paths.ts";
import { errorCode } from "../../lib/app-error.ts";

export interface MailboxPaths {
  readonly toAgent: string;
  readonly toHost: string;
  readonly rejected: string;
}

export function mailboxPaths(folder: string): MailboxPaths {
  return {
    toAgent: join(folder, mailboxFolders.toAgent),
    toHost: join(folder, mailboxFolders.toHost),
    rejected: join(folder, mailboxFolders.rejected),
  };
}

/**
 * Makes the folders of a mailbox, or takes those of an earlier run. Only the host gets through `folder` itself; a
 * container sees `to-agent` and `to-host` alone. A host without root cannot give `to-host` away, so there it is open to
 * all uids, of which none but the container's can reach it.
 */
export async function makeMailboxFolders(folder: string, containerUid: number, hostUid: number): Promise<MailboxPaths> {
  const paths = mailboxPaths(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  for (const path of [paths.toAgent, paths.toHost, paths.rejected]) await mkdir(path, { recursive: true, mode: 0o700 });
  await chmod(paths.toAgent, 0o755);
  await chmod(paths.rejected, 0o700);
  if (hostUid === 0) await chown(paths.toHost, containerUid, containerUid);
  await chmod(paths.toHost, hostUid === 0 || containerUid === hostUid ? 0o700 : 0o777);
  return paths;
}

const batch = 512;

/**
 * Removes a mailbox whose container has ended. What the agent made is never walked by name: entries are unlinked
 * through the descriptor of their folder, and a folder with something in it is first moved up into a folder of the
 * host's own, so that any depth needs two descriptors and no link is ever followed. False when something is left, which
 * only a host without root meets: a folder of the container's uid, to be removed by a container of that uid.
 */
export async function removeMailboxFolders(folder: string): Promise<boolean> {
  const paths = mailboxPaths(folder);
  const attic = join(folder, "attic");
  try {
    if (!(await makeAttic(attic))) return true;
    await emptyFolder(paths.toHost, attic);
    for (const path of [paths.toAgent, paths.rejected]) await rm(path, { recursive: true, force: true });
    for (const path of [paths.toHost, attic, folder]) await removeEmpty(path);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes(errorCode(error))) return false;
    throw error;
  }
}

/** False when there is no mailbox to make it in. */
async function makeAttic(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return true;
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

async function removeEmpty(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

async function emptyFolder(path: string, atticPath: string): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const attic = stack.use(await HostileFolder.open(atticPath));
  const lift = lifter(attic);
  const folder = await openIfThere(path);
  if (folder) await lift(stack.use(folder));
  for (let progress = true; progress;) {
    progress = false;
    const { names } = await attic.list(batch);
    for (const name of names) {
      await using inner = await attic.openFolder(name);
      if (inner !== undefined) await lift(inner);
      progress = (await attic.remove(name)) || progress;
    }
  }
}

/** Empties one folder: what cannot be removed goes to the attic. */
function lifter(attic: HostileFolder): (folder: HostileFolder) => Promise<void> {
  let counter = 0;
  return async (folder) => {
    for (let progress = true; progress;) {
      progress = false;
      const { names } = await folder.list(batch);
      for (const name of names) {
        counter += 1;
        const gone = (await folder.remove(name)) || (await folder.moveTo(name, attic, `lifted-${counter}`));
        progress = gone || progress;
      }
    }
  };
}

async function openIfThere(path: string): Promise<HostileFolder | undefined> {
  try {
    return await HostileFolder.open(path);
  } catch (error) {
    if (errorCode(error) === "not_found") return undefined;
    throw error;
  }
}

/**
 * Removes the mailboxes of containers that are gone, such as those of a host that was killed. `isHot` names the ones
 * that are in use. To be called while no container is being started. Returns the folders that could not be removed.
 */
export async function removeStaleMailboxes(
  sessionsFolder: string,
  isHot: (session: string, generation: number) => boolean,
): Promise<string[]> {
  const left: string[] = [];
  for (const session of await readdir(sessionsFolder)) {
    const mail = join(sessionsFolder, session, "mail");
    const generations = await readdir(mail).catch(() => []);
    for (const generation of generations) {
      const folder = join(mail, generation);
      if (!isHot(session, Number(generation)) && !(await removeMailboxFolders(folder))) left.push(folder);
    }
  }
  return left;
}
