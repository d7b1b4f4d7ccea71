import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";

import { hiddenCharacter } from "../../lib/text/hidden-characters.ts";
import { isSecretPath } from "../../protocol/secret-names.ts";

/** Limits above which a folder is too large; a large source tree with dependencies fits. */
export interface WalkLimits {
  readonly entries: number;
  readonly milliseconds: number;
}

const defaultWalkLimits: WalkLimits = { entries: 500_000, milliseconds: 20_000 };

/** Folders that are read at the same time; more would only wait for each other. */
const together = 8;

/** Returns why nothing of this name may be mounted, as the end of a sentence. */
export type RefuseName = (name: string) => string | undefined;

/** Contents of a folder that matter for mounting it. */
export interface Contents {
  /** The end of a sentence; undefined when nothing was found that may not be mounted. */
  readonly refusal: string | undefined;
  /** Files that look as if they held secrets: the first paths below the folder, and how many there are. */
  readonly secrets: { readonly paths: readonly string[]; readonly count: number };
}

/** Paths of files with secrets that are kept. */
export const mostSecrets = 20;

/**
 * Looks through everything below `folder`, links not followed, for what may not be mounted along with it: names that
 * `refuseName` refuses, sockets (a way to a program of the host, even when mounted read-only) and device files. What
 * cannot be read or takes too long is refused.
 */
export async function lookThrough(
  folder: string,
  refuseName: RefuseName,
  limits: WalkLimits = defaultWalkLimits,
): Promise<Contents> {
  const secrets: string[] = [];
  const refusal = await walk(folder, { refuseName, limits, secrets });
  const paths = secrets.toSorted().slice(0, mostSecrets);
  return { refusal, secrets: { paths, count: secrets.length } };
}

async function walk(
  folder: string,
  { refuseName, limits, secrets }: { refuseName: RefuseName; limits: WalkLimits; secrets: string[] },
): Promise<string | undefined> {
  const deadline = performance.now() + limits.milliseconds;
  const waiting: Buffer[] = [Buffer.from(folder)];
  let left = limits.entries;
  for (let batch = waiting.splice(-together); batch.length > 0; batch = waiting.splice(-together)) {
    const most = left;
    for (const look of await Promise.all(batch.map((path) => lookInto(path, refuseName, most)))) {
      if (look.refusal !== undefined) return look.refusal;
      left -= look.entries;
      for (const inside of look.folders) waiting.push(inside);
      for (const path of look.secrets) secrets.push(visiblePath(path).slice(folder.length + 1));
    }
    if (left < 0) return `it has more than ${limits.entries} entries, too many to look through`;
    if (performance.now() > deadline) return `it could not be looked through within ${limits.milliseconds / 1000} s`;
  }
  return undefined;
}

interface Look {
  readonly entries: number;
  readonly folders: readonly Buffer[];
  readonly secrets: readonly Buffer[];
  readonly refusal?: string;
}

/** Reads one folder, at most one entry more than `most`. */
async function lookInto(path: Buffer, refuseName: RefuseName, most: number): Promise<Look> {
  const folders: Buffer[] = [];
  const secrets: Buffer[] = [];
  let entries = 0;
  try {
    // Names are bytes: one that is not UTF-8 could not be opened again if it were read as text.
    for await (const entry of await opendir(path, { encoding: "latin1", bufferSize: 256 })) {
      entries += 1;
      const refusal = refuseEntry(entry, path, refuseName);
      if (refusal !== undefined) return { entries, folders, secrets, refusal };
      if (entry.isDirectory()) folders.push(pathOf(entry, path));
      else if (isSecretPath(pathOf(entry, path).toString())) secrets.push(pathOf(entry, path));
      if (entries > most) break;
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    // A folder may vanish while its neighbours are read; then nothing of it will be mounted either.
    if (code !== "ENOENT")
      return { entries, folders, secrets, refusal: `${visiblePath(path)} cannot be read (${code})` };
  }
  return { entries, folders, secrets };
}

function refuseEntry(entry: Dirent, folder: Buffer, refuseName: RefuseName): string | undefined {
  const why = refuseName(Buffer.from(entry.name, "latin1").toString("utf8"));
  if (why !== undefined) return `it contains ${visiblePath(pathOf(entry, folder))}, a name that ${why}`;
  if (entry.isSocket())
    return `it contains the socket ${visiblePath(pathOf(entry, folder))}, a way to a program of this machine`;
  if (!entry.isBlockDevice() && !entry.isCharacterDevice()) return undefined;
  return `it contains the device file ${visiblePath(pathOf(entry, folder))}`;
}

function pathOf(entry: Dirent, folder: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from("/"), Buffer.from(entry.name, "latin1")]);
}

/** An agent can choose names in a folder that it may write, so they must not reach a terminal or a log as they are. */
export function visiblePath(path: Buffer): string {
  return path.toString().replaceAll(hiddenCharacter, "\u{FFFD}");
}
