import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { MemoryFile } from "../../src/abilities/memory/file/memory-file.ts";
import { GroupMemory } from "../../src/abilities/memory/group-memory.ts";
import { LetterEmbedder } from "../support/letter-embedder.ts";
import { programPath } from "../support/programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const program = programPath("crashing-memory");
const weights = { vector: 0.5, text: 0.5, neighbour: 0.3 };

/** Each method of the file that writes, and the calls of it that there are. */
const points = Object.entries({ advance: 4, setVectors: 3, dropIndexes: 1, remove: 1 }).flatMap(([method, calls]) =>
  ["before", "after"].flatMap((moment) =>
    Array.from({ length: calls }, (_, at) => [moment, method, String(at + 1)] as const),
  ),
);

async function run(folder: string, ...at: readonly string[]): Promise<string | null> {
  return promisify(execFile)(process.execPath, [program, folder, ...at]).then(
    () => null,
    (error: { readonly signal: string }) => error.signal,
  );
}

test.concurrent.each(points)(
  "killed %s %s (call %s), a memory goes on: nothing lost, nothing doubled, and what is forgotten is gone",
  async (...at) => {
    await using folder = await temporaryFolder();

    expect(await run(folder.path, ...at)).toBe("SIGKILL");
    // What it left can be read, whatever it is.
    MemoryFile.open(join(folder.path, "family.sqlite"))[Symbol.dispose]();
    expect(await run(folder.path)).toBe(null);

    await using memory = new GroupMemory({
      path: join(folder.path, "family.sqlite"),
      weights,
      embedder: new LetterEmbedder(),
    });
    expect(memory.stats()).toMatchObject({ items: 92, superseded: 1, embedded: 92 });
    const all = [...memory.all()];
    expect(new Set(all.map(({ id }) => id)).size).toBe(92);
    const sources = new Set(all.filter(({ category }) => category === "conversation").flatMap((one) => one.sources));
    for (const fact of all.filter(({ category }) => category === "core"))
      expect(fact.sources.every((source) => sources.has(source))).toBe(true);
    expect((await memory.search("coffee", { limit: 1 }))[0]?.memory.id).toBe("fact-2");
    expect((await memory.search("kept number 77", { limit: 1 }))[0]?.memory.id).toBe("m77");
    for (const name of await readdir(folder.path))
      expect((await readFile(join(folder.path, name))).includes("zeppelin")).toBe(false);
  },
  60_000,
);
