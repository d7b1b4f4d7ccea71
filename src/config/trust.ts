import { stat } from "node:fs/promises";
import type { Stats } from "node:fs";
import { dirname } from "node:path";

/** Reason for distrusting a path, and the repair command. */
export interface Fault {
  readonly detail: string;
  readonly fix: string;
}

/** True for trusted owners: ourselves and root. Ids are undefined on platforms without users. */
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

/** Reports when another user can change this file or folder. */
export function writeFault(path: string, found: Stats): Fault | undefined {
  if (!isOurs(found.uid)) return foreign(path, found.uid);
  if ((found.mode & 0o022) !== 0) {
    return { detail: `${path} can be written by other users (mode ${octal(found.mode)}).`, fix: `chmod go-w ${path}` };
  }
  return undefined;
}

/**
 * The same for a real folder, which must be ours, and for all folders above it: whoever can rename one can replace it.
 * There, sticky folders such as /tmp are fine, and so are ones writable only by our own group.
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
