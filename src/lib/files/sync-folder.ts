import { open } from "node:fs/promises";

/** A new file survives a loss of power only after its folder is on disk too. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, "r");
  await folder.sync();
}
