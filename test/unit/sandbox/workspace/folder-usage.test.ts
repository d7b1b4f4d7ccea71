import { execFile } from "node:child_process";
import { link, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { describe, expect, test } from "vitest";

import { measureFolder } from "../../../../src/sandbox/workspace/folder-usage.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const run = promisify(execFile);

/** Result of the standard program. */
async function asDuSays(folder: string): Promise<{ bytes: number; entries: number }> {
  const [size, inodes] = await Promise.all([run("du", ["-skx", folder]), run("du", ["-sx", "--inodes", folder])]);
  return { bytes: Number.parseInt(size.stdout, 10) * 1024, entries: Number.parseInt(inodes.stdout, 10) };
}

async function writeFiles(folder: string, count: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (let index = 0; index < count; index += 1)
    await writeFile(join(folder, `file-${index}`), "x".repeat(index * 100));
}

const folders: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  "with nothing in it": async () => undefined,
  "with files in folders": async (folder) => {
    await writeFiles(join(folder, "a/b/c"), 20);
    await writeFiles(join(folder, "a/d"), 20);
    await mkdir(join(folder, "empty"));
  },
  "with links that lead elsewhere, and files with holes": async (folder) => {
    await writeFile(join(folder, "holes"), "");
    await truncate(join(folder, "holes"), 10_000_000);
    await symlink("/usr", join(folder, "elsewhere"));
    await symlink(folder, join(folder, "itself"));
  },
  "with a file that has several names": async (folder) => {
    await writeFile(join(folder, "one"), "x".repeat(100_000));
    await link(join(folder, "one"), join(folder, "two"));
  },
  "with names that are no text": async (folder) => {
    await writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0x0a, 0x20])]), "x".repeat(5_000));
  },
  "with many files": (folder) => writeFiles(folder, 150),
  "with many files in many folders": async (folder) => {
    for (let index = 0; index < 12; index += 1) await writeFiles(join(folder, `folder-${index}`), 12);
  },
};

describe("as du says, is measured", () => {
  for (const [what, fill] of Object.entries(folders)) {
    test(`a folder ${what}`, async () => {
      await using folder = await temporaryFolder();
      await fill(folder.path);

      const usage = await measureFolder(folder.path, AbortSignal.timeout(120_000));

      expect(usage).toEqual(await asDuSays(folder.path));
    });
  }
});

test("a folder that is missing holds nothing", async () => {
  await using folder = await temporaryFolder();

  const usage = await measureFolder(join(folder.path, "gone"), AbortSignal.timeout(120_000));

  expect(usage).toEqual({ bytes: 0, entries: 0 });
});
