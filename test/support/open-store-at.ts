import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { openStore } from "../../src/stores/catalog.ts";
import { eventsPath } from "../../src/stores/sqlite/open-sqlite-store.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface NewFiles {
  readonly store: Buffer;
  readonly events: Buffer;
}

let newFiles: Promise<NewFiles> | undefined;

/**
 * The real store at this path. A new one begins as a copy of one that was made in this process before: to make its
 * tables takes ten times as long as all that most tests do with it.
 */
export async function openStoreAt(path: string): Promise<Store> {
  if (!existsSync(path)) {
    const { store, events } = await (newFiles ??= makeNewFiles());
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    if (!existsSync(eventsPath(path))) await writeFile(eventsPath(path), events, { mode: 0o600 });
    await writeFile(path, store, { mode: 0o600 });
  }
  return openStore({ kind: "sqlite", path });
}

async function makeNewFiles(): Promise<NewFiles> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "new.sqlite");
  const made = await openStore({ kind: "sqlite", path });
  await made[Symbol.asyncDispose]();
  return { store: await readFile(path), events: await readFile(eventsPath(path)) };
}
