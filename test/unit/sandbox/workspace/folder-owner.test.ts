import { lstat, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { giveFolderTo } from "../../../../src/sandbox/workspace/folder-owner.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const user = { uid: 300_001, gid: 300_001 };

test.runIf(process.geteuid?.() === 0)(
  "a group's folder is given away with all that is in it, but for its protected files",
  async () => {
    await using folder = await temporaryFolder();
    const group = join(folder.path, "family");
    await mkdir(join(group, "site"), { recursive: true });
    for (const name of ["AGENTS.md", "SOUL.md", "MEMORY.md", "site/AGENTS.md"]) await writeFile(join(group, name), "");
    await symlink("/etc/hostname", join(group, "link"));

    await giveFolderTo(group, user, 0);

    const ownerOf = async (name: string): Promise<number> => (await lstat(join(group, name))).uid;
    for (const name of ["", "MEMORY.md", "site", "site/AGENTS.md", "link"]) expect(await ownerOf(name)).toBe(user.uid);
    for (const name of ["AGENTS.md", "SOUL.md"]) expect(await ownerOf(name)).toBe(0);
    expect((await lstat("/etc/hostname")).uid).toBe(0);
  },
);
