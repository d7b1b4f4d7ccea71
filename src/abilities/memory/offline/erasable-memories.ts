import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { nothingIfMissing } from "../../../lib/app-error.ts";
import type { ErasableMemories } from "../../../records/erasure/erase-person.ts";
import { globalNotes } from "../item.ts";
import { memoryOfFile, memoryPath } from "../memory-path.ts";
import { discountSaid, erasePerson, noteSaid } from "../file/erase-person.ts";

const damaged = /^(.+)\.sqlite\.damaged-\d+(?:-wal|-shm|-journal)?$/;

/** The memories in this folder, from which people's words can be erased. */
export function erasableMemories(folder: string): ErasableMemories {
  const pathOf = (name: string): string => memoryPath(folder, name);
  const list = async (): Promise<string[]> => (await readdir(folder).catch(nothingIfMissing)) ?? [];
  return {
    names: async () => {
      const names = await list();
      return names.flatMap((name) => memoryOfFile(name) ?? []);
    },
    isForAll: (name) => name === globalNotes,
    noteSaid: (name, people, traces) => noteSaid(pathOf(name), { people }, traces),
    discountSaid: (name, people, traces) => discountSaid(pathOf(name), { people }, traces),
    erase: (name, erasing) => erasePerson(pathOf(name), erasing),
    removeDamaged: async (isOne) => {
      const names = await list();
      const gone = names.filter((name) => isOne(damaged.exec(name)?.[1] ?? ""));
      for (const name of gone) await rm(join(folder, name), { force: true });
      return gone.length;
    },
  };
}
