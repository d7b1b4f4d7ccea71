import { readdir } from "node:fs/promises";

import { groupOfFolder } from "../../../domain/chats/group.ts";
import { nothingIfMissing } from "../../../lib/app-error.ts";
import { memoryOfFile, memoryPath } from "../memory-path.ts";

/** True when this group or one of its agents has memories. Loads no memory code otherwise. */
export async function hasMemories(folder: string, group: string): Promise<boolean> {
  const files = (await readdir(folder).catch(nothingIfMissing)) ?? [];
  const own = files.flatMap((file) => memoryOfFile(file) ?? []).filter((name) => groupOfFolder(name) === group);
  if (own.length === 0) return false;
  const { MemoryFile } = await import("../file/memory-file.ts");
  return own.some((name) => {
    using file = MemoryFile.open(memoryPath(folder, name));
    return file.counts(undefined).items > 0;
  });
}
