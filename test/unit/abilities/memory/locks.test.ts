import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { searchBytes } from "../../../../src/records/erasure/bytes/search-bytes.ts";
import { MemoryFile } from "../../../../src/abilities/memory/file/memory-file.ts";
import { lockHome } from "../../../../src/stores/sqlite/home-lock.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const run = promisify(execFile);

/** Output of another process that opens the file, runs `query` and closes it. */
async function lookFromOutside(path: string, query: string): Promise<string> {
  const program = `const SQLite = require("better-sqlite3");
    const file = new SQLite(process.argv[1], { timeout: 0 });
    try { console.log(JSON.stringify(file.prepare(process.argv[2]).pluck().all())); }
    catch (error) { console.log(error.code); }
    file.close();`;
  const { stdout } = await run(process.execPath, ["-e", program, path, query], { cwd: import.meta.dirname });
  return stdout.trim();
}

const said = { category: "conversation", sender: "Ann", origin: "member", time: 0, sources: [] } as const;

test("what is kept is not lost where the file was opened, searched and closed meanwhile, and then opened by another process", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "memory", "family.sqlite");
  using file = MemoryFile.open(path);
  file.put([{ ...said, id: "one", text: "the boat is called Wanda" }]);
  // As the erasure of a person does. Neither may take away the locks that this process holds.
  MemoryFile.open(path)[Symbol.dispose]();
  const left = await searchBytes({ root: folder.path, except: [], texts: ["called Wanda", "nobody said this"] });

  expect(await lookFromOutside(path, "select id from items")).toBe('["one"]');
  expect(left).toEqual([join("memory", "family.sqlite-wal")]);
  file.put([{ ...said, id: "two", text: "the dog is called Rex" }]);

  expect(await lookFromOutside(path, "select id from items order by id")).toBe('["one","two"]');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(`${path}-wal`)).mode & 0o777).toBe(0o600);
});

test("a home stays locked where the same process tries to lock it again, and where its files are searched", async () => {
  await using folder = await temporaryFolder();
  await using stack = new AsyncDisposableStack();
  stack.use(await lockHome(folder.path, { pid: process.pid, startedAt: 0 }));
  await expect(lockHome(folder.path, { pid: process.pid, startedAt: 1 })).rejects.toThrow(/already running/);
  await searchBytes({ root: folder.path, except: [], texts: ["nobody said this"] });
  expect(await lookFromOutside(join(folder.path, "lock.sqlite"), "select 1 from sqlite_schema")).toBe("SQLITE_BUSY");
});
