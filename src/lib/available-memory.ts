import { readFile } from "node:fs/promises";

/** Megabytes that programs could still get without others being pushed out; undefined where the kernel does not say. */
export async function availableMemoryMb(): Promise<number | undefined> {
  const text = await readFile("/proc/meminfo", "utf8").catch(() => "");
  const kilobytes = /^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}
