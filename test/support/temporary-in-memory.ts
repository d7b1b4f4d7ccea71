import { rm } from "node:fs/promises";

import { makeMemoryFolder, memoryVariable } from "./memory-folder.ts";

/** Run once around all tests: gives them memory for their temporary folders, and takes it back. */
export default function temporaryInMemory(): (() => Promise<void>) | undefined {
  const folder = makeMemoryFolder();
  if (folder === undefined) return undefined;
  // Processes that run tests get it with the rest of the environment.
  process.env[memoryVariable] = folder;
  return () => rm(folder, { recursive: true, force: true });
}
