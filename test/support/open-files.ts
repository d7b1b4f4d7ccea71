import { closeSync, openSync, readdirSync, readlinkSync } from "node:fs";

const folder = "/proc/self/fd";

/** Numbers of what this process has open. */
export function openDescriptors(): ReadonlySet<string> {
  // The one with which they are listed is the next that is free.
  const next = openSync(folder, "r");
  closeSync(next);
  return new Set(readdirSync(folder).filter((descriptor) => descriptor !== String(next)));
}

/**
 * Paths of the files and folders that this process has open, but for those with these numbers. Node does not count
 * them: they keep no process running.
 */
export function openFiles(except?: ReadonlySet<string>): string[] {
  return readdirSync(folder).flatMap((descriptor) => {
    if (except?.has(descriptor)) return [];
    try {
      const target = readlinkSync(`${folder}/${descriptor}`);
      return /^\/(?!dev\/(?!shm\/)|proc\/)/.test(target) ? [target] : [];
    } catch {
      // The one that has just listed the others.
      return [];
    }
  });
}
