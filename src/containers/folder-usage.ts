import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstat } from "node:fs/promises";
import { text } from "node:stream/consumers";

import type { FolderUsage } from "../domain/limit.ts";
import { AppError } from "../lib/app-error.ts";

/** A folder that takes longer than this holds far more than any quota lets in. */
const timeoutMs = 60_000;

/**
 * Measures a folder of an agent by `du`, at low priority in a process of its own: it opens each folder relative to the one
 * above, so nobody who moves things about meanwhile can lead it elsewhere, and it keeps the host's loop free however much
 * there is. What the host may not read is left out. Undefined when it takes too long.
 */
export async function measureFolder(folder: string, signal: AbortSignal): Promise<FolderUsage | undefined> {
  const life = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const kilobytes = await du(["-skx"], folder, life);
  // Only GNU's counts them.
  const entries = await du(["-sx", "--inodes"], folder, life);
  signal.throwIfAborted();
  if (life.aborted) return undefined;
  if (kilobytes !== undefined) return { bytes: kilobytes * 1024, entries: entries ?? 0 };
  if ((await lstat(folder).catch(() => undefined)) === undefined) return { bytes: 0, entries: 0 };
  throw new AppError("setup_required", `The size of ${folder} is unknown, because the program du gave no answer.`);
}

async function du(options: readonly string[], folder: string, signal: AbortSignal): Promise<number | undefined> {
  const child = spawn("nice", ["-n", "10", "du", ...options, "--", folder], {
    signal,
    killSignal: "SIGKILL",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "close").catch(() => undefined);
  const output = await text(child.stdout).catch(() => "");
  await ended;
  const total = /^(\d+)\s/.exec(output)?.[1];
  return total === undefined || signal.aborted ? undefined : Number(total);
}
