import { chmod, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { replaceFile } from "../../../src/config/editing/replace-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("a file is replaced as a whole and keeps its mode; a new one is for its owner alone", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");

  await replaceFile(file, { before: undefined, after: "a: 1\n" });
  const made = (await stat(file)).mode & 0o777;
  await chmod(file, 0o640);
  await replaceFile(file, { before: "a: 1\n", after: "a: 2\n" });

  expect([made, (await stat(file)).mode & 0o777]).toEqual([0o600, 0o640]);
  expect(await readFile(file, "utf8")).toBe("a: 2\n");
  expect(await readdir(folder.path)).toEqual(["config.yaml"]);
});

test("what somebody else has written since the file was read is not overwritten", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");
  await writeFile(file, "theirs: 1\n", { mode: 0o600 });

  const late = replaceFile(file, { before: "a: 1\n", after: "a: 2\n" });
  await expect(late).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("was changed") as string,
  });
  const tooNew = replaceFile(file, { before: undefined, after: "a: 2\n" });
  await expect(tooNew).rejects.toMatchObject({ code: "conflict" });

  expect(await readFile(file, "utf8")).toBe("theirs: 1\n");
  expect(await readdir(folder.path)).toEqual(["config.yaml"]);
});

test("of many edits at once each is made on what the one before has left, or is refused", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");
  await writeFile(file, "", { mode: 0o600 });
  const add = async (line: string) => {
    const before = await readFile(file, "utf8");
    await replaceFile(file, { before, after: `${before}${line}\n` });
  };

  const made = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => add(`line ${index}`)));

  const lines = made.flatMap(({ status }, index) => (status === "fulfilled" ? [`line ${index}`] : []));
  expect(lines.length).toBeGreaterThan(0);
  expect((await readFile(file, "utf8")).split("\n").filter(Boolean).toSorted()).toEqual(lines.toSorted());
});

test("what a crash between writing and renaming has left changes nothing, and is in nobody's way for long", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");
  await writeFile(file, "a: 1\n", { mode: 0o600 });
  await writeFile(`${file}.draft`, "a: 2", { mode: 0o600 });

  await expect(replaceFile(file, { before: "a: 1\n", after: "a: 3\n" })).rejects.toMatchObject({ code: "conflict" });
  const before = await readFile(file, "utf8");
  await utimes(`${file}.draft`, 1, 1);
  await replaceFile(file, { before: "a: 1\n", after: "a: 3\n" });

  expect([before, await readFile(file, "utf8")]).toEqual(["a: 1\n", "a: 3\n"]);
  expect(await readdir(folder.path)).toEqual(["config.yaml"]);
});
