import { readFile } from "node:fs/promises";

/** Returns the megabytes that programs could still get; undefined where the kernel does not say. */
export async function availableMemoryMb(): Promise<number | undefined> {
  const text = await readFile("/proc/meminfo", "utf8").catch(() => "");
  const kilobytes = /^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}
