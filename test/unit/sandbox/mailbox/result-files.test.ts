import { execFile } from "node:child_process";
import { link, mkdir, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { limits } from "../../../../src/protocol/limits.ts";
import { HostileFolder } from "../../../../src/lib/files/open-hostile-file.ts";
import { ResultFiles } from "../../../../src/sandbox/mailbox/result-files.ts";
import { logMessage, openMailbox } from "../../../support/mailbox-under-test.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const uid = process.getuid?.() ?? 0;

test("a file of the agent is taken once, and its folder is no breach of the rules", async () => {
  await using box = await openMailbox();
  await using own = await temporaryFolder();
  await mkdir(join(box.toHost, "files"));
  await writeFile(join(box.toHost, "files", "one"), "a picture");
  await box.put(1, logMessage(1));
  await expect.poll(() => box.messages.length).toBe(1);

  const first = await box.mailbox.takeFile("one", join(own.path, "1"), 100);
  const second = await box.mailbox.takeFile("one", join(own.path, "2"), 100);

  expect(first).toMatchObject({ ok: true, bytes: 9 });
  expect(await readFile(join(own.path, "1"), "utf8")).toBe("a picture");
  expect(second).toEqual({ ok: false, reason: "missing" });
  expect([box.rejections, await readdir(join(box.toHost, "files"))]).toEqual([[], []]);
});

test.each([
  ["a link", "link", (at: string, outside: string) => symlink(outside, at)],
  ["a hard link", "hard-linked", (at: string, outside: string) => link(outside, at)],
  ["a pipe", "not-a-file", (at: string) => promisify(execFile)("mkfifo", [at])],
  ["a folder", "not-a-file", (at: string) => mkdir(at)],
  ["more than is allowed", "too-large", (at: string) => writeFile(at, "x".repeat(101))],
])("%s is not taken, and is gone", async (_what, reason, plant) => {
  await using box = await openMailbox();
  await using own = await temporaryFolder();
  await mkdir(join(box.toHost, "files"));
  await writeFile(join(own.path, "secret"), "of the host");
  await plant(join(box.toHost, "files", "one"), join(own.path, "secret"));

  const taken = await box.mailbox.takeFile("one", join(own.path, "copy"), 100);

  expect(taken).toEqual({ ok: false, reason });
  expect(await readdir(join(box.toHost, "files"))).toEqual([]);
  expect(await readFile(join(own.path, "secret"), "utf8")).toBe("of the host");
});

test("a link in place of the folder leads nowhere, and no name leads out of it", async () => {
  await using box = await openMailbox();
  await using own = await temporaryFolder();
  await writeFile(join(own.path, "secret"), "of the host");
  await symlink(own.path, join(box.toHost, "files"));

  const followed = await box.mailbox.takeFile("secret", join(own.path, "copy"), 100);
  const left = await box.mailbox.takeFile("../../secret", join(own.path, "copy"), 100);

  expect([followed.ok, left.ok]).toEqual([false, false]);
  expect(await readdir(own.path)).toEqual(["secret"]);
});

test("what lies there counts, and what could hide any amount is found", async () => {
  await using own = await temporaryFolder();
  await using folder = await HostileFolder.open(own.path);
  const files = new ResultFiles(folder, uid);
  const nothing = await files.usage();
  await mkdir(join(own.path, "files"));
  await writeFile(join(own.path, "files", "one"), "x".repeat(10_000));

  const one = await files.usage();
  await mkdir(join(own.path, "files", "deep"));
  const deep = await files.usage();
  await using many = await temporaryFolder();
  await mkdir(join(many.path, "files"));
  for (let name = 0; name <= limits.resultFiles; name += 1) await writeFile(join(many.path, "files", String(name)), "");
  await using full = await HostileFolder.open(many.path);

  expect(nothing).toEqual({ bytes: 0, inOrder: true });
  expect(one.inOrder && one.bytes >= 10_000).toBe(true);
  expect(deep.inOrder).toBe(false);
  expect((await new ResultFiles(full, uid).usage()).inOrder).toBe(false);
});
