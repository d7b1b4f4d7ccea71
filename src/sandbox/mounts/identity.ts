import { constants, type BigIntStats } from "node:fs";
import { lstat, open, readlink, realpath } from "node:fs/promises";

import { recheckProtected, type ProtectedPath } from "./protected-paths.ts";

/** A folder as it was found: where it really is, who owns it, and which one it is. */
export interface FolderIdentity {
  readonly realPath: string;
  readonly uid: number;
  readonly gid: number;
  /** Numbers of the device and the inode, in decimal: some are larger than a JavaScript number holds exactly. */
  readonly device: string;
  readonly inode: string;
}

/** Opens a path without reading it or waking a device or FIFO. Linux has the flag, Node lacks the name. */
const openPathOnly = process.platform === "linux" ? 0o10000000 : constants.O_RDONLY;

/**
 * Finds the folder that a path leads to, links followed, and takes its identity from an open descriptor, so that all
 * facts are of one and the same folder. Anything but a folder gives the end of a sentence that says why it is none.
 */
export async function identifyFolder(path: string): Promise<FolderIdentity | string> {
  const realPath = await realpath(path).catch(() => undefined);
  if (realPath === undefined) return `${path} does not exist or cannot be reached`;
  const kind = kindOf(await lstat(realPath, { bigint: true }));
  if (kind !== "a folder") return `${realPath} is ${kind}, and only folders can be mounted`;

  await using opened = await open(realPath, openPathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const facts = await opened.stat({ bigint: true });
  const now = process.platform === "linux" ? await readlink(`/proc/self/fd/${opened.fd}`) : await realpath(realPath);
  if (now !== realPath) return `${realPath} was moved or replaced while it was examined`;
  return {
    realPath,
    uid: Number(facts.uid),
    gid: Number(facts.gid),
    device: String(facts.dev),
    inode: String(facts.ino),
  };
}

function kindOf(facts: BigIntStats): string {
  if (facts.isDirectory()) return "a folder";
  if (facts.isFile()) return "a file";
  if (facts.isSocket()) return "a socket";
  if (facts.isFIFO()) return "a FIFO";
  if (facts.isBlockDevice() || facts.isCharacterDevice()) return "a device";
  return "no folder";
}

/**
 * Whether a granted folder is still the one that was judged: undefined, or a sentence that says what changed. To be
 * asked right before the container is created and again after it has started, because the engine resolves the path by
 * itself.
 */
export async function recheckMount(
  granted: FolderIdentity & { readonly protect?: readonly ProtectedPath[] },
): Promise<string | undefined> {
  const now = await identifyFolder(granted.realPath).catch((error: unknown) => String(error));
  if (typeof now === "string") return `The mount source ${granted.realPath} has changed since it was judged: ${now}.`;
  if (now.realPath !== granted.realPath) {
    return `The mount source ${granted.realPath} now leads to ${now.realPath}, which was not judged.`;
  }
  if (now.device !== granted.device || now.inode !== granted.inode) {
    return `The mount source ${granted.realPath} was replaced by another folder since it was judged.`;
  }
  if (now.uid !== granted.uid)
    return `The mount source ${granted.realPath} was given to uid ${now.uid} since it was judged.`;
  for (const path of granted.protect ?? []) {
    const change = await recheckProtected(granted.realPath, path);
    if (change !== undefined) return change;
  }
  return undefined;
}
