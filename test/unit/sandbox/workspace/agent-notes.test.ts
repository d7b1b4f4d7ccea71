import { execFileSync } from "node:child_process";
import { chmod, link, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { readAgentNotes } from "../../../../src/sandbox/workspace/agent-notes.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

test("a group without notes has none, also where its files are empty", async () => {
  await using folder = await temporaryFolder();
  const without = await readAgentNotes(folder.path);
  await writeFile(join(folder.path, "MEMORY.md"), " \n");
  await mkdir(join(folder.path, "notes"));

  expect(without).toBeUndefined();
  expect(await readAgentNotes(folder.path)).toBeUndefined();
});

test("what MEMORY.md says and what is in notes/ is read, the names in order", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "MEMORY.md"), "Ann likes tea.\n");
  await mkdir(join(folder.path, "notes/more"), { recursive: true });
  for (const name of ["trip.md", "garden.md"]) await writeFile(join(folder.path, "notes", name), "x");

  expect(await readAgentNotes(folder.path)).toEqual({
    memory: "Ann likes tea.\n",
    refused: undefined,
    names: ["garden.md", "more", "trip.md"],
    hasMore: false,
  });
});

/** Replacements of MEMORY.md by an agent, and the reason for not reading each. */
const traps: readonly (readonly [string, (path: string, secret: string) => Promise<unknown>])[] = [
  ["link", (path, secret) => symlink(secret, path)],
  ["hard-linked", (path, secret) => link(secret, path)],
  ["not-a-file", async (path) => execFileSync("mkfifo", [path])],
  ["not-a-file", (path) => mkdir(path)],
  ["odd-mode", (path) => writeFile(path, "x").then(() => chmod(path, 0o4644))],
];

test.each(traps)("a MEMORY.md that is no ordinary file is not read (%s)", async (reason, set) => {
  await using folder = await temporaryFolder();
  await using elsewhere = await temporaryFolder();
  const secret = join(elsewhere.path, "secret");
  await writeFile(secret, "the secret");
  await set(join(folder.path, "MEMORY.md"), secret);

  expect(await readAgentNotes(folder.path)).toEqual({ memory: "", refused: reason, names: [], hasMore: false });
});

test("a folder of notes that leads elsewhere is not listed", async () => {
  await using folder = await temporaryFolder();
  await symlink("/etc", join(folder.path, "notes"));

  expect(await readAgentNotes(folder.path)).toBeUndefined();
});

test("of a huge file the beginning is read, and of many notes some are listed", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "MEMORY.md"), "begin");
  await truncate(join(folder.path, "MEMORY.md"), 1e12);
  await mkdir(join(folder.path, "notes"));
  for (let index = 0; index < 101; index += 1) await writeFile(join(folder.path, "notes", `${index}.md`), "");

  const { memory = "", names, hasMore } = (await readAgentNotes(folder.path)) ?? {};

  expect(memory).toHaveLength(32 * 1024);
  expect(memory).toMatch(/^begin\0/);
  expect(names).toHaveLength(100);
  expect(hasMore).toBe(true);
});
