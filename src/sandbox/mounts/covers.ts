import { mkdir, open, readlink, writeFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join, posix } from "node:path";

import { AppError } from "../../lib/app-error.ts";
import { hasHiddenCharacters, isWithin, outermostOf } from "../../lib/files/paths.ts";
import { secretIn, secretPathExpression } from "../../protocol/secret-names.ts";
import { findEntries, type FoundEntry } from "./find-entries.ts";

/** A file or folder of a mount that looks like a secret, over which a container gets an empty, unreadable one. */
export interface CoveredPath {
  /** Below the mount. */
  readonly path: string;
  readonly isFolder: boolean;
  /** By which it is known again: a program that writes a file anew takes the cover away. */
  readonly inode: string;
}

/** One for which there is a cover: the host's file or folder that is mounted over it. */
export interface CoveredSecret extends CoveredPath {
  readonly cover: string;
}

/** Each is a separate mount; a folder with more is refused. */
const mostCovered = 256;

/** Tests of `find` that at least all secrets pass, joined by "or". */
export const secretTests: readonly (readonly string[])[] = [
  ["-iregex", secretPathExpression],
  ["-name", "*[!!-~]*"],
];

/** Finds everything in a folder that looks like a secret. Throws `mount_denied` when not all of it can be covered. */
export async function findSecrets(folder: FileHandle, signal: AbortSignal): Promise<readonly CoveredPath[]> {
  return secretsAmong(folder, await findEntries(folder, secretTests, signal), signal);
}

/**
 * Returns those of the entries of a folder that look like secrets, without what lies in others; with the files of the
 * folder that links of such names lead to, and the other names of those files. `entries`: at least all that pass
 * `secretTests`. Throws `mount_denied` when not all of them can be covered.
 */
export async function secretsAmong(
  folder: FileHandle,
  entries: readonly FoundEntry[],
  signal: AbortSignal,
): Promise<readonly CoveredPath[]> {
  const named = entries.filter(({ path }) => secretIn(path.toString()) === path.toString());
  const targets = await Promise.all(named.filter(({ type }) => type === "l").map((link) => targetOf(folder, link)));
  const found = [...named.filter(({ type }) => type !== "l").map(coveredPath), ...targets.flat()];
  const linked = named.filter(({ type, links }) => type === "f" && links > 1);
  if (linked.length > 0) {
    const tests = linked.map(({ inode }) => ["-inum", inode]);
    found.push(...(await findEntries(folder, tests, signal)).map(coveredPath));
  }
  return onlyOutermost(found);
}

function coveredPath({ path, type, inode }: FoundEntry): CoveredPath {
  const text = path.toString("utf8");
  if (!Buffer.from(text).equals(path) || hasHiddenCharacters(text))
    throw cannotCover("it contains what looks like a secret under a name that is no plain text");
  return { path: text, isFolder: type === "d", inode };
}

/** A link that leads out of the folder leads nowhere in a container. */
async function targetOf(folder: FileHandle, link: FoundEntry): Promise<CoveredPath[]> {
  const root = await readlink(`/proc/self/fd/${folder.fd}`);
  const opened = await open(Buffer.concat([Buffer.from(`${root}/`), link.path]), "r").catch(() => undefined);
  if (opened === undefined) return [];
  await using target = opened;
  const facts = await target.stat({ bigint: true });
  const path = await readlink(`/proc/self/fd/${target.fd}`);
  if (path === root || !isWithin(path, root)) return [];
  return [{ path: path.slice(root.length + 1), isFolder: facts.isDirectory(), inode: String(facts.ino) }];
}

function onlyOutermost(found: readonly CoveredPath[]): readonly CoveredPath[] {
  const byPath = new Map(found.map((covered) => [covered.path, covered]));
  const outermost = outermostOf(byPath.keys())
    .map((path) => byPath.get(path))
    .filter((covered) => covered !== undefined);
  if (outermost.length > mostCovered)
    throw cannotCover(
      `it contains ${outermost.length} files that look like secrets, and at most ${mostCovered} can be covered`,
    );
  return outermost;
}

function cannotCover(why: string): AppError {
  return new AppError("mount_denied", `${why}; mount a narrower folder, or write secrets: show at the mount`);
}

/** An empty file and an empty folder of the host's that nobody in a container can read or write. */
export interface Covers {
  readonly file: string;
  readonly folder: string;
}

export function coversIn(home: string): Covers {
  return { file: join(home, "covers", "file"), folder: join(home, "covers", "folder") };
}

/** Makes them where they are missing. */
export async function ensureCovers({ file, folder }: Covers): Promise<void> {
  await mkdir(posix.dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, "", { flag: "wx", mode: 0o000 }).catch(ignoreExisting);
  await mkdir(folder, { mode: 0o000 }).catch(ignoreExisting);
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
