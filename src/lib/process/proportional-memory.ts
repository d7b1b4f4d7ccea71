import { readFile } from "node:fs/promises";

/**
 * Memory of a process in MiB, of what is shared with others its share only (PSS). Rejects with `ENOENT` or `ESRCH` when
 * it has ended, and with `EACCES` where we may not look: other users' processes are for root alone.
 */
export async function proportionalMb(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024;
}
