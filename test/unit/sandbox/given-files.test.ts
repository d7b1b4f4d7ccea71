import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { mebibyte } from "../../../src/lib/text/bytes.ts";
import { GivenFiles } from "../../../src/sandbox/mailbox/given-files.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("files for an agent are numbered, can be read by it, and go on where an earlier life of the host ended", async () => {
  await using folder = await temporaryFolder();
  const before = process.umask(0o077);
  try {
    const first = new GivenFiles(folder.path);
    const names = await Promise.all([first.add(Buffer.from("a"), "html"), first.add(Buffer.from("b"), "pdf")]);
    names.push(await new GivenFiles(folder.path).add(Buffer.from("c"), "txt"));

    expect(names).toEqual(["1.html", "2.pdf", "3.txt"]);
  } finally {
    process.umask(before);
  }
  const files = join(folder.path, "files");
  expect(await readFile(join(files, "2.pdf"), "utf8")).toBe("b");
  expect((await stat(files)).mode & 0o777).toBe(0o755);
  expect((await stat(join(files, "1.html"))).mode & 0o777).toBe(0o644);
  expect(await readdir(files)).toEqual(["1.html", "2.pdf", "3.txt"]);
});

test("only the newest are kept: this many, and this many bytes", async () => {
  await using many = await temporaryFolder();
  await using large = await temporaryFolder();
  const small = new GivenFiles(many.path);
  const big = new GivenFiles(large.path);

  for (let count = 0; count < 40; count += 1) await small.add(Buffer.from("x"), "txt");
  for (let count = 0; count < 4; count += 1) await big.add(Buffer.alloc(30 * mebibyte), "bin");

  const kept = await readdir(join(many.path, "files"));
  expect(kept).toHaveLength(32);
  expect(kept).toContain("40.txt");
  expect(kept).not.toContain("8.txt");
  expect((await readdir(join(large.path, "files"))).toSorted()).toEqual(["3.bin", "4.bin"]);
});
