import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { noteFolder } from "./made-by-tests.ts";

/** A new empty folder that is removed at the end of the scope. */
export async function temporaryFolder(parent: string = tmpdir()): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(parent, "crabpot-test-"));
  noteFolder(path);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
