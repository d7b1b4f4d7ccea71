import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstat } from "node:fs/promises";
import { text } from "node:stream/consumers";

import type { FolderUsage } from "../../domain/turns/limit.ts";
import { AppError } from "../../lib/app-error.ts";
import { HostileFolder } from "../../lib/files/open-hostile-file.ts";

/** Maximum entries that the host examines itself, within a millisecond; starting a process takes ten. */
const mostEntries = 100;

/** A folder that takes longer than this holds far more than any quota lets in. */
const timeoutMs = 60_000;

/**
 * Measures an agent's folder: bytes on disk and entries, itself included. Larger ones by `du` in a low-priority
 * process, which opens each folder relative to its parent and never blocks the host's loop. Unreadable parts are left
 * out. Undefined when it takes too long.
 */
export async function measureFolder(folder: string, signal: AbortSignal): Promise<FolderUsage | undefined> {
  const small = await measureSmall(folder);
  if (small !== undefined) return small;
  const life = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const answer = await run(folder, life);
  signal.throwIfAborted();
  if (life.aborted) return undefined;
  const kilobytes = /^bytes (\d+)\s/m.exec(answer)?.[1];
  const entries = /^entries (\d+)\s/m.exec(answer)?.[1];
  if (kilobytes !== undefined) return { bytes: Number(kilobytes) * 1024, entries: Number(entries ?? 0) };
  if ((await lstat(folder).catch(() => undefined)) === undefined) return { bytes: 0, entries: 0 };
  throw new AppError("setup_required", `The size of ${folder} is unknown, because the program du gave no answer.`);
}

/**
 * The same, by the same rules; undefined for a folder with many entries, or anything in it that is not quite simple.
 */
async function measureSmall(path: string): Promise<FolderUsage | undefined> {
  try {
    await using folder = await HostileFolder.open(path);
    const { blocks, dev } = await lstat(path);
    return await sumUp(folder, { bytes: blocks * 512, entries: 1 }, dev);
  } catch {
    return undefined;
  }
}

/** `before`, and what is in the folder. */
async function sumUp(folder: HostileFolder, before: FolderUsage, device: number): Promise<FolderUsage | undefined> {
  const { names, complete } = await folder.list(mostEntries - before.entries);
  if (!complete) return undefined;
  let sum: FolderUsage | undefined = before;
  for (const name of names) {
    const stats = await folder.stat(name);
    if (stats === undefined) continue;
    // One with several names counts once, and what lies on another file system does not.
    if (stats.dev !== device || (!stats.isDirectory() && stats.nlink > 1)) return undefined;
    sum = { bytes: sum.bytes + stats.blocks * 512, entries: sum.entries + 1 };
    if (stats.isDirectory()) {
      await using inner = await folder.openFolder(name);
      sum = inner && (await sumUp(inner, sum, device));
    }
    if (sum === undefined || sum.entries > mostEntries) return undefined;
  }
  return sum;
}

/** One process of ours for both: starting it is what holds the host's loop up. Only GNU's `du` counts the entries. */
const script = `printf 'bytes '; du -skx -- "$1"; printf '\\nentries '; du -sx --inodes -- "$1"`;

async function run(folder: string, signal: AbortSignal): Promise<string> {
  const child = spawn("nice", ["-n", "10", "sh", "-c", script, "sh", folder], {
    // Its own group, so that what the shell has started can be ended with it.
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const kill = (): void => void (child.pid !== undefined && process.kill(-child.pid, "SIGKILL"));
  const ended = once(child, "close").catch(() => undefined);
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  const output = await text(child.stdout).catch(() => "");
  await ended;
  signal.removeEventListener("abort", kill);
  return output;
}
