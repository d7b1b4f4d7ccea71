import { chmod, chown, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { readEnvironment } from "../../../src/config/environment.ts";
import { ensureGlobalFolder, ensureGroupFolder } from "../../../src/config/home/group-folders.ts";
import { prepareHome } from "../../../src/config/home/home.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const checkout = resolve(import.meta.dirname, "../../..");

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

test("a first start makes a home that only its user can enter", async () => {
  await using folder = await temporaryFolder();
  const root = join(folder.path, "new", "home");

  const home = await prepareHome(root);

  expect(home.instance).toMatch(/^[0-9a-f]{16}$/);
  for (const path of [root, home.paths.keys, home.paths.sessions, home.paths.audit, home.paths.logs]) {
    expect(await modeOf(path)).toBe(0o700);
  }
  expect(await modeOf(home.paths.instance)).toBe(0o600);
});

test("a later start finds the same instance, and two first starts at once agree on one", async () => {
  await using folder = await temporaryFolder();

  const homes = await Promise.all(Array.from({ length: 8 }, () => prepareHome(folder.path)));
  const later = await prepareHome(folder.path);

  expect(new Set([...homes, later].map((home) => home.instance)).size).toBe(1);
  expect((await readdir(folder.path)).filter((name) => name.startsWith("instance"))).toEqual(["instance"]);
});

test("a home that has lost its id is not given another one in silence", async () => {
  await using folder = await temporaryFolder();
  const { paths } = await prepareHome(folder.path);
  await writeFile(paths.instance, "");

  await expect(prepareHome(folder.path)).rejects.toThrow(/should hold the id of this home/);
});

test("a start takes read rights of others away from the home and the files in it", async () => {
  await using folder = await temporaryFolder();
  const { paths } = await prepareHome(folder.path);
  await chmod(folder.path, 0o755);
  await writeFile(paths.config, "{}");
  await chmod(paths.config, 0o644);

  await prepareHome(folder.path);

  expect(await modeOf(folder.path)).toBe(0o700);
  expect(await modeOf(paths.config)).toBe(0o600);
});

test.for(["passwd", "package.json", ".bashrc", "src", "Instance"])(
  "a folder that holds %j has another purpose: it is refused, and stays as it is",
  async (name) => {
    await using folder = await temporaryFolder();
    await chmod(folder.path, 0o755);
    for (const each of [name, "config.yaml"]) await writeFile(join(folder.path, each), "theirs");

    await expect(prepareHome(folder.path)).rejects.toMatchObject({
      code: "setup_required",
      message: expect.stringContaining(`it holds "${name}". Nothing was changed.`),
      fix: expect.stringContaining("CRABPOT_HOME"),
    });

    expect((await readdir(folder.path)).toSorted()).toEqual([name, "config.yaml"].toSorted());
    expect(await modeOf(folder.path)).toBe(0o755);
  },
);

test.for([
  [],
  ["config.yaml"],
  ["config.yaml", "mounts.json", "prompts", ".git", ".gitignore", ".env", "README.md", "models", "plugins.lock.busy"],
])("a folder with %j becomes a home, once nobody else can read it", async (names) => {
  await using folder = await temporaryFolder();
  await chmod(folder.path, 0o755);
  for (const name of names) await writeFile(join(folder.path, name), "");

  await expect(prepareHome(folder.path)).rejects.toMatchObject({ fix: `chmod 700 ${folder.path}` });
  expect(await modeOf(folder.path)).toBe(0o755);

  await chmod(folder.path, 0o700);
  expect(await prepareHome(folder.path)).toMatchObject({ isNew: true });
  expect(await prepareHome(folder.path)).toMatchObject({ isNew: false });
});

test("a home in use may hold files of its operator", async () => {
  await using folder = await temporaryFolder();
  const { instance } = await prepareHome(folder.path);
  await writeFile(join(folder.path, "notes.txt"), "theirs");

  expect(await prepareHome(folder.path)).toMatchObject({ instance });
});

test.for([0o770, 0o707, 0o777])(
  "a home that others can write to (%o) is refused with the command that mends it",
  async (mode) => {
    await using folder = await temporaryFolder();
    await chmod(folder.path, mode);

    await expect(prepareHome(folder.path)).rejects.toMatchObject({
      code: "setup_required",
      fix: `chmod go-w ${folder.path}`,
    });
  },
);

test("a home below a folder in which others can move things is refused", async () => {
  await using folder = await temporaryFolder();
  await chmod(folder.path, 0o777);

  await expect(prepareHome(join(folder.path, "home"))).rejects.toThrow(/can be written by other users.*It holds/);
});

test.runIf(process.geteuid?.() === 0)("a home of another user is refused", async () => {
  await using folder = await temporaryFolder();
  await chown(folder.path, 12_345, 12_345);

  await expect(prepareHome(folder.path)).rejects.toThrow(/belongs to another user \(uid 12345\)/);
});

test("a home behind a link is used by its real path; a link inside a home is refused", async () => {
  await using folder = await temporaryFolder();
  const real = join(folder.path, "real");
  await mkdir(real, { mode: 0o700 });
  await symlink(real, join(folder.path, "link"));

  expect((await prepareHome(join(folder.path, "link"))).paths.root).toBe(real);

  await using other = await temporaryFolder();
  await symlink(real, join(other.path, "keys"));
  await expect(prepareHome(other.path)).rejects.toThrow(/keys is not a real folder/);
});

test("a group's folder is copied from the template once and never touched again", async () => {
  await using folder = await temporaryFolder();
  const { paths } = await prepareHome(folder.path);
  const folders = { groups: paths.groups, checkout };

  const made = await ensureGroupFolder(folders, { name: "family", main: false });
  await writeFile(join(made, "AGENTS.md"), "ours");
  await ensureGroupFolder(folders, { name: "family", main: false });

  expect(await readFile(join(made, "AGENTS.md"), "utf8")).toBe("ours");
  expect(await readdir(paths.groups)).toEqual(["family"]);
});

test("the owner's own group gets its own instructions", async () => {
  await using folder = await temporaryFolder();
  const { paths } = await prepareHome(folder.path);

  const made = await ensureGroupFolder({ groups: paths.groups, checkout }, { name: "me", main: true });

  expect(await readFile(join(made, "AGENTS.md"), "utf8")).toMatch(/^# Main group/);
});

test.runIf(process.geteuid?.() === 0)(
  "a new group's folder belongs to its container's user, but for AGENTS.md",
  async () => {
    await using folder = await temporaryFolder();
    const { paths } = await prepareHome(folder.path);

    const made = await ensureGroupFolder(
      { groups: paths.groups, checkout },
      { name: "family", main: false },
      { uid: 300_001, gid: 300_001 },
    );

    expect((await lstat(made)).uid).toBe(300_001);
    const instructions = await lstat(join(made, "AGENTS.md"));
    expect([instructions.uid, instructions.mode & 0o777]).toEqual([0, 0o644]);
  },
);

test.for(["../x", "global", "", "A", "a/b", ".hidden", "a".repeat(65), "_template"])(
  "no folder is made for a group that calls itself %j",
  async (name) => {
    await using folder = await temporaryFolder();

    await expect(ensureGroupFolder({ groups: folder.path, checkout }, { name, main: false })).rejects.toMatchObject({
      code: "bad_input",
    });
  },
);

test("a link in place of a group's folder is refused", async () => {
  await using folder = await temporaryFolder();
  await symlink("/etc", join(folder.path, "family"));

  await expect(ensureGroupFolder({ groups: folder.path, checkout }, { name: "family", main: false })).rejects.toThrow(
    /is not a real folder/,
  );
});

test("the shared folder can be read by every container's user", async () => {
  await using folder = await temporaryFolder();
  const { paths } = await prepareHome(folder.path);

  await ensureGlobalFolder(paths.global, checkout);

  expect(await modeOf(paths.global)).toBe(0o755);
  expect(await modeOf(join(paths.global, "README.md"))).toBe(0o644);
});

test("the home is CRABPOT_HOME, or .crabpot in the user's home folder", () => {
  expect(readEnvironment({ HOME: "/home/me" }).crabpotHome).toBe("/home/me/.crabpot");
  expect(readEnvironment({ HOME: "/home/me", CRABPOT_HOME: "" }).crabpotHome).toBe("/home/me/.crabpot");
  expect(readEnvironment({ HOME: "/home/me", CRABPOT_HOME: "~/x" }).crabpotHome).toBe("/home/me/x");
  expect(readEnvironment({ HOME: "/home/me", CRABPOT_HOME: "/srv/pot" }).crabpotHome).toBe("/srv/pot");
});
