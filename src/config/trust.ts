import { stat } from "node:fs/promises";
import type { Stats } from "node:fs";
import { dirname } from "node:path";

/** Why a path must not be trusted, and the command that mends it. */
export interface Fault {
  readonly detail: string;
  readonly fix: string;
}

/** Who may own what we trust: ourselves and root. Undefined ids are those of platforms without users. */
function isOurs(uid: number): boolean {
  return uid === 0 || uid === ownUid(uid);
}

function ownUid(otherwise: number): number {
  return process.geteuid?.() ?? otherwise;
}

function foreign(path: string, uid: number): Fault {
  return {
    detail: `${path} belongs to another user (uid ${uid}).`,
    fix: `chown ${process.geteuid?.() ?? "$(id -u)"} ${path}`,
  };
}

/** Can another user change this file or folder? */
export function writeFault(path: string, found: Stats): Fault | undefined {
  if (!isOurs(found.uid)) return foreign(path, found.uid);
  if ((found.mode & 0o022) !== 0) {
    return { detail: `${path} can be written by other users (mode ${octal(found.mode)}).`, fix: `chmod go-w ${path}` };
  }
  return undefined;
}

/**
 * The same for a real folder, which must be our own, and for all folders above it: whoever may rename one of those can
 * put another in its place. There, a sticky folder such as /tmp is fine, and so is one that only our own group can
 * write to.
 */
export async function folderFault(path: string, options: { parents: boolean }): Promise<Fault | undefined> {
  const found = await stat(path);
  if (!found.isDirectory()) return { detail: `${path} is not a folder.`, fix: `Remove it or choose another folder.` };
  const own = found.uid === ownUid(found.uid) ? writeFault(path, found) : foreign(path, found.uid);
  if (own !== undefined || !options.parents) return own;
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    const fault = parentFault(parent, await stat(parent));
    if (fault !== undefined) return { ...fault, detail: `${fault.detail} It holds ${path}.` };
    if (parent === dirname(parent)) return undefined;
  }
}

function parentFault(path: string, found: Stats): Fault | undefined {
  if ((found.mode & 0o1000) !== 0) return undefined;
  const privateGroup = found.gid === 0 || found.gid === process.getegid?.();
  const writable = (found.mode & 0o002) !== 0 || ((found.mode & 0o020) !== 0 && !privateGroup);
  if (writable) {
    return { detail: `${path} can be written by other users (mode ${octal(found.mode)}).`, fix: `chmod go-w ${path}` };
  }
  if (isOurs(found.uid)) return undefined;
  return {
    detail: `${path} belongs to another user (uid ${found.uid}).`,
    fix: "Set CRABPOT_HOME to a folder below your own home folder.",
  };
}

/** Permission bits as `chmod` takes them: `0640`. */
export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}
