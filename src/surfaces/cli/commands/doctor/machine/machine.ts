import { lstat, readdir, realpath, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { HomePaths } from "../../../../../config/home/home.ts";
import { readTrustedFile } from "../../../../../config/loading/config-file.ts";
import { folderFault, octal } from "../../../../../config/trust.ts";
import { shellQuoted } from "../../../../../lib/files/paths.ts";
import type { CheckResult } from "../check.ts";
import { bad, good, warning } from "../check.ts";

const oldestNode = 24;
const gib = 1024 ** 3;
/** Below this the store and the audit log may soon fail to write. */
const leastFreeBytes = 0.25 * gib;
const comfortableFreeBytes = 2 * gib;

export function checkNode(): Promise<CheckResult> {
  const version = process.versions.node;
  const enough = Number.parseInt(version, 10) >= oldestNode;
  const result = enough
    ? good("node", `Node.js ${version}`)
    : bad("node", `Node.js ${version} is too old; ${oldestNode} or newer is needed.`, "npm run setup");
  return Promise.resolve(result);
}

/** The folder itself: whose it is, and who else gets in. */
export async function checkHome(paths: HomePaths): Promise<CheckResult> {
  const found = await stat(paths.root).catch(() => undefined);
  if (found === undefined) return good("home", `${paths.root} does not exist yet; the first start creates it.`);
  const fault = await folderFault(paths.root, { parents: true });
  if (fault !== undefined) return bad("home", fault.detail, fault.fix);
  if ((found.mode & 0o077) !== 0) {
    return bad(
      "home",
      `Other users can enter ${paths.root} (mode ${octal(found.mode)}).`,
      `chmod 700 ${shellQuoted(paths.root)}`,
    );
  }
  return good("home", `${paths.root} is closed to other users.`);
}

/** Checks that files with secrets, conversations or evidence are closed to others, even if the home were open. */
export async function checkPermissions(paths: HomePaths): Promise<CheckResult[]> {
  const files = await secretFiles(paths);
  const results: CheckResult[] = [];
  for (const file of files) {
    const found = await lstat(file).catch(() => undefined);
    if (found === undefined) continue;
    if (found.isSymbolicLink()) {
      results.push(bad("permissions", `${file} is a symbolic link.`, await withoutLink(file)));
    } else if ((found.mode & 0o077) !== 0 && !(await isHarmless(paths, file, found.mode))) {
      const detail = `${file} is open to other users (mode ${octal(found.mode)}).`;
      results.push(bad("permissions", detail, `chmod ${found.isDirectory() ? "700" : "600"} ${shellQuoted(file)}`));
    }
  }
  if (results.length > 0) return results;
  return [good("permissions", "Configuration, keys, database, logs and audit log are closed to other users.")];
}

/** A command that puts what a link leads to in its place. */
async function withoutLink(link: string): Promise<string> {
  const [path, target] = [shellQuoted(link), await realpath(link).catch(() => undefined)];
  if (target === undefined) return `rm ${path}`;
  return `rm ${path} && cp -R ${shellQuoted(target)} ${path} && chmod -R go-rwx ${path}`;
}

/** True for a readable hand-written file without secrets, which the closed home protects. */
async function isHarmless(paths: HomePaths, file: string, mode: number): Promise<boolean> {
  if ((mode & 0o022) !== 0) return false;
  if (file === paths.mounts) return true;
  if (file !== paths.config) return false;
  const text = await readTrustedFile(file).catch(() => undefined);
  const lines = text?.split("\n") ?? ["apiKey: unreadable"];
  return !lines.some((line) => /\b(apiKey|token)["']?\s*:\s*(?!\s*["']?\$\{)\S/.test(line));
}

async function secretFiles(paths: HomePaths): Promise<string[]> {
  const folders = [paths.keys, paths.audit, paths.logs];
  const inFolders = await Promise.all(
    folders.map(async (folder) => (await readdir(folder).catch(() => [])).map((name) => join(folder, name))),
  );
  const database = ["", "-wal", "-shm"].map((suffix) => `${paths.database}${suffix}`);
  return [
    paths.config,
    paths.mounts,
    paths.instance,
    paths.controlSocket,
    paths.controlKey,
    paths.sessions,
    ...folders,
    ...database,
    ...inFolders.flat().filter((file) => !file.endsWith(".pub") && !file.includes(".pub.")),
  ];
}

export async function checkDisk(paths: HomePaths): Promise<CheckResult> {
  const folder = await nearestExisting(paths.root);
  const { bavail, bsize, files, ffree } = await statfs(folder);
  const freeBytes = bavail * bsize;
  const free = `${(freeBytes / gib).toFixed(1)} GiB free for ${paths.root}`;
  const fix = `Free some space on the file system of ${folder} (see: df -h ${shellQuoted(folder)}).`;
  const inodes = `Remove files there (see: df -i ${shellQuoted(folder)}).`;
  if (freeBytes < leastFreeBytes) return bad("disk", `Only ${free}.`, fix);
  if (files > 0 && ffree < 1_000)
    return bad("disk", `Only ${ffree} more files fit on the file system of ${paths.root}.`, inodes);
  return freeBytes < comfortableFreeBytes ? warning("disk", `${free}: that is low.`, fix) : good("disk", `${free}.`);
}

async function nearestExisting(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined && path !== dirname(path) ? nearestExisting(dirname(path)) : path;
}
