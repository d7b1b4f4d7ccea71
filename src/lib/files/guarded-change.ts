import { randomUUID } from "node:crypto";
import { link, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { AppError, errorCode } from "../app-error.ts";

/**
 * Makes a change of a file while no other command makes one, and removes what killed ones have left beside it. Throws
 * `conflict` when one does; `what`: what it is changing, as `the skills of this home`.
 */
export async function whileGuarded<Result>(file: string, what: string, change: () => Promise<Result>): Promise<Result> {
  const guard = `${file}.busy`;
  await take(guard, what);
  try {
    await removeLeftBehind(dirname(file), `${basename(file)}.`);
    return await change();
  } finally {
    await rm(guard, { force: true });
  }
}

/** Replaces a file: as a whole, or not at all. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}.${randomUUID()}.new`;
  try {
    await writeSynced(draft, text);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  await using handle = await open(path, "wx", 0o600);
  await handle.writeFile(text);
  await handle.sync();
}

/**
 * Removes what is called `<prefix>…<process>.…` or `<prefix>…<process>-…` and was left by a process that is no more.
 */
export async function removeLeftBehind(folder: string, prefix: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue;
    const [, pid] = /^(?:busy\.)?(\d+)[.-]/.exec(name.slice(prefix.length)) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** The guard says whose it is from its first moment on: one that is being written would look as if nobody held it. */
async function take(guard: string, what: string): Promise<void> {
  const own = `${guard}.${process.pid}.${randomUUID()}`;
  await writeFile(own, String(process.pid), { flag: "wx", mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      if (await isLinked(own, guard)) return;
      const holder = Number(await readFile(guard, "utf8").catch(() => ""));
      if (isAlive(holder)) throw busy({ guard, what, holder });
      // Left by a command that was killed.
      await rm(guard, { force: true });
    }
    throw busy({ guard, what, holder: undefined });
  } finally {
    await rm(own, { force: true });
  }
}

async function isLinked(own: string, guard: string): Promise<boolean> {
  try {
    await link(own, guard);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

function busy(found: { readonly guard: string; readonly what: string; readonly holder: number | undefined }): AppError {
  const who = found.holder === undefined ? "" : ` (process ${found.holder})`;
  return new AppError("conflict", `Another command${who} is changing ${found.what}.`, {
    fix: `Wait until it has ended, and try again. If there is none, remove ${found.guard}.`,
    passing: true,
  });
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}
