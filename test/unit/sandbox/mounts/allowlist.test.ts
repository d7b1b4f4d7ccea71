import { chmod, chown, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { allowlistSchema, readAllowlist } from "../../../../src/sandbox/mounts/allowlist.ts";
import { judgeMounts, type MountContext } from "../../../../src/sandbox/mounts/rules.ts";
import { onDisk, temporaryFolder } from "../../../support/temporary-folder.ts";

const hostUid = process.getuid?.() ?? 0;

async function place(): Promise<{ path: string; file: string; context: MountContext } & AsyncDisposable> {
  const folder = await temporaryFolder(onDisk);
  const file = join(folder.path, "settings/mounts.json");
  await mkdir(join(folder.path, "settings"), { mode: 0o700 });
  await mkdir(join(folder.path, "home/projects/app"), { recursive: true });
  const context: MountContext = {
    allowlistPath: file,
    homeFolder: join(folder.path, "home"),
    crabpotHome: join(folder.path, "settings"),
    checkout: join(folder.path, "checkout"),
    hostUid,
  };
  return { path: folder.path, file, context, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

const fine = JSON.stringify({ roots: [{ path: "~/projects", access: "ro" }] });
const request = { source: "~/projects/app", target: "app", access: "ro" };

test("without an allowlist nothing is mounted, and a file that appears later counts at once", async () => {
  await using here = await place();

  const before = await judgeMounts([request], here.context);
  await writeFile(here.file, fine, { mode: 0o600 });
  const after = await judgeMounts([request], here.context);
  await rm(here.file);
  const again = await judgeMounts([request], here.context);

  expect(before[0]).toMatchObject({ verdict: "denied", reason: expect.stringContaining("does not exist") });
  expect(after[0]).toMatchObject({ verdict: "ro" });
  expect(again[0]).toMatchObject({ verdict: "denied" });
});

test.each([
  ["nothing", "", /JSON/],
  ["half a file", '{"roots": [', /JSON/],
  ["an array", "[]", /expected object/],
  ["no roots", "{}", /roots/],
  ["an unknown key", '{"roots": [], "root": []}', /root/],
  ["an unknown key of a root", '{"roots": [{"path": "~/x", "access": "ro", "recursive": true}]}', /roots\.0/],
  ["a wrong access", '{"roots": [{"path": "~/x", "access": "write"}]}', /roots\.0\.access/],
  ["no access", '{"roots": [{"path": "~/x"}]}', /roots\.0\.access/],
  ["a relative root", '{"roots": [{"path": "projects", "access": "ro"}]}', /absolute/],
  ["another user's home", '{"roots": [{"path": "~bob/x", "access": "ro"}]}', /absolute/],
  ["a root with a line end", '{"roots": [{"path": "/x\\ny", "access": "ro"}]}', /control/],
  ["a blocked path", '{"roots": [], "blocked": ["a/b"]}', /blocked\.0: write one name/],
  ["a blocked nothing", '{"roots": [], "blocked": [""]}', /blocked\.0/],
  ["a blocked number", '{"roots": [], "blocked": [7]}', /blocked\.0/],
])("an allowlist with %s denies every mount and says why", async (_, text, reason) => {
  await using here = await place();
  await writeFile(here.file, text, { mode: 0o600 });

  const [verdict] = await judgeMounts([request], here.context);

  expect(verdict).toMatchObject({ verdict: "denied", reason: expect.stringContaining(here.file) });
  expect(verdict?.reason).toMatch(reason);
});

test.each([
  ["group-writable", 0o620],
  ["world-writable", 0o602],
])("a %s allowlist is not believed", async (_, mode) => {
  await using here = await place();
  await writeFile(here.file, fine);
  await chmod(here.file, mode);

  expect(await readAllowlist({ path: here.file, homeFolder: here.path, hostUid })).toMatchObject({
    state: "unusable",
    reason: expect.stringContaining("chmod go-w"),
  });
});

test("an allowlist in a folder that others can write is not believed", async () => {
  await using here = await place();
  await writeFile(here.file, fine, { mode: 0o600 });
  await chmod(join(here.path, "settings"), 0o777);

  const [verdict] = await judgeMounts([request], here.context);

  expect(verdict).toMatchObject({ verdict: "denied", reason: expect.stringContaining("can be written by others") });
});

test.runIf(hostUid === 0)("an allowlist of another user is not believed, one of the host's user is", async () => {
  await using here = await place();
  await writeFile(here.file, fine, { mode: 0o600 });
  await chown(here.file, 1234, 1234);
  await chown(join(here.path, "settings"), 1234, 1234);

  const asRoot = await readAllowlist({ path: here.file, homeFolder: here.path, hostUid: 0 });
  const asOwner = await readAllowlist({ path: here.file, homeFolder: here.path, hostUid: 1234 });

  expect(asRoot).toMatchObject({ state: "unusable", reason: expect.stringContaining("belongs to uid 1234") });
  expect(asOwner.state).toBe("ready");
});

test("an allowlist that is a link, a folder or lies inside its own root is not believed", async () => {
  await using here = await place();
  const at = { path: here.file, homeFolder: here.path, hostUid };

  await writeFile(join(here.path, "real.json"), fine, { mode: 0o600 });
  await symlink(join(here.path, "real.json"), here.file);
  const linked = await readAllowlist(at);
  await rm(here.file);
  await mkdir(here.file);
  const folder = await readAllowlist(at);
  await rm(here.file, { recursive: true });
  await writeFile(here.file, JSON.stringify({ roots: [{ path: "~/settings", access: "ro" }] }), { mode: 0o600 });
  const inside = await readAllowlist(at);

  expect(linked).toMatchObject({ state: "unusable", reason: expect.stringContaining("symbolic link") });
  expect(folder).toMatchObject({ state: "unusable", reason: expect.stringContaining("not a regular file") });
  expect(inside).toMatchObject({ state: "unusable", reason: expect.stringContaining("inside its own root") });
});

test("a root that is reached through a link counts as where it leads", async () => {
  await using here = await place();
  await symlink(join(here.path, "home/projects"), join(here.path, "shortcut"));
  await writeFile(here.file, JSON.stringify({ roots: [{ path: join(here.path, "shortcut"), access: "rw" }] }), {
    mode: 0o600,
  });

  const [verdict] = await judgeMounts([{ ...request, access: "rw" }], here.context);

  expect(verdict).toMatchObject({ verdict: "rw" });
});

test("a half-written allowlist never replaces the whole one when it is put in place by a rename", async () => {
  await using here = await place();
  await writeFile(here.file, fine, { mode: 0o600 });
  await writeFile(`${here.file}.new`, JSON.stringify({ roots: [] }), { mode: 0o600 });
  const before = await judgeMounts([request], here.context);

  await rename(`${here.file}.new`, here.file);
  const after = await judgeMounts([request], here.context);

  expect([before[0]?.verdict, after[0]?.verdict]).toEqual(["ro", "denied"]);
});

test("the example in the checkout is a valid allowlist", async () => {
  const text = await readFile(new URL("../../../../mounts.example.json", import.meta.url), "utf8");

  expect(allowlistSchema.parse(JSON.parse(text)).roots).toHaveLength(2);
});

test("whatever the allowlist file holds, judging never throws and never grants", async () => {
  await using here = await place();
  const contents = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constant(`${fine}x`),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  );

  await fc.assert(
    fc.asyncProperty(contents, async (content) => {
      await writeFile(here.file, content, { mode: 0o600 });
      const [verdict] = await judgeMounts([request], here.context);
      expect(verdict?.verdict).toBe("denied");
    }),
    { numRuns: 200 },
  );
});
