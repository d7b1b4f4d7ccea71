import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { identifyFolder } from "../../../../src/sandbox/mounts/identity.ts";
import { MountInspector } from "../../../../src/sandbox/mounts/inspector.ts";
import type { MountGrant } from "../../../../src/sandbox/mounts/rules.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const never = new AbortController().signal;

/** An inspector of a folder with these files, each of which holds its own name. */
async function inspected(files: readonly (string | Buffer)[], verdict: "ro" | "rw" = "rw") {
  const folder = await temporaryFolder();
  const mounted = join(folder.path, "mounted");
  await mkdir(mounted);
  for (const file of files) {
    const path = Buffer.concat([Buffer.from(`${mounted}/`), Buffer.from(file)]);
    await mkdir(Buffer.from(dirname(path.toString("latin1")), "latin1"), { recursive: true });
    await writeFile(path, file);
  }
  const identity = await identifyFolder(mounted);
  if (typeof identity === "string") throw new Error(identity);
  const grant: MountGrant = { ...identity, source: mounted, target: "x", verdict, reason: "" };
  const inspector = new MountInspector({
    granted: [grant],
    groupFolder: folder.path,
    uid: 1,
    refuseName: (name) => (name.normalize("NFKC").toLowerCase() === ".ssh" ? "is not allowed" : undefined),
    refusedNames: [".ssh"],
  });
  return { mounted, look: () => inspector.look(0, never), [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test.each([
  [".ssh"],
  ["a/b/c/.SSH"],
  ["a/.ｓｓｈ"],
  ["a\nb/.ssh/x"],
  [Buffer.from([0xff, 0xfe, 0x2f, 0x2e, 0x73, 0x73, 0x68])],
])("a forbidden name is found wherever and however it is written: %j", async (file) => {
  await using rig = await inspected(["ordinary", file]);

  expect((await rig.look()).refused).toMatch(/refused from now on: it contains .*, a name that is not allowed/);
});

test("ordinary names, odd ones among them, are no reason to refuse; links are not followed", async () => {
  const odd = ["-print", "a b", "a'b\"", "tab\there", "$(x)", "*", "[x]", "\u{202E}x", "ünï", "sshd/.sshd"];
  await using rig = await inspected([...odd, Buffer.from([0xe9, 0x2e, 0x31])]);
  await symlink("/", join(rig.mounted, "root"));
  await symlink(".", join(rig.mounted, "loop"));

  expect(await rig.look()).toMatchObject({ refused: undefined, secrets: [], setIdFiles: [] });
});

const secrets = [".env", "a/.ENV", "b/server.pem", "c/gh/hosts.yml", "d/.ünv/x.key"];
const harmless = [".env.example", "hosts.yml", "credentials.md"];

test("files that look like secrets are found, templates and the like are not", async () => {
  await using rig = await inspected([...secrets, ...harmless], "ro");

  const { secrets: found } = await rig.look();

  expect(found.map(({ path }) => path).toSorted()).toEqual(secrets.toSorted());
});

const points = {
  ".git/hooks/pre-commit": "git-hook",
  ".git/config": "git-config",
  ".git/modules/a/b/hooks/post-checkout": "git-hook",
  "a/.envrc": "direnv",
  ".husky/_/husky.sh": "git-hook",
  ".vscode/tasks.json": "editor",
  "bare/config": "git-config",
  "bare/hooks/post-checkout": "git-hook",
  "AGENTS.md": "coding-agent",
  Makefile: "build",
  "tools/.ünknown": "dot-file",
};
const work = [
  ".git/HEAD",
  ".git/refs/heads/config",
  ".git/objects/ab/config",
  "bare/HEAD",
  "bare/objects/x",
  "bare/refs/y",
  "node_modules/a/.vscode/tasks.json",
  "src/config",
  "hooks/useThing.ts",
];

test("what runs on the host by itself is found with its kind; ordinary work is not", async () => {
  await using rig = await inspected([...Object.keys(points), ...work]);
  await writeFile(join(rig.mounted, "run"), "", { mode: 0o755 });
  await writeFile(join(rig.mounted, "script"), "#!/bin/sh\n");
  await symlink("/etc", join(rig.mounted, "away"));

  const { executionPoints } = await rig.look();
  const found = [...executionPoints.values()].filter(({ state }) => !state.startsWith("d "));

  expect(Object.fromEntries(found.map(({ path, kind }) => [path, kind]))).toEqual({
    ...points,
    run: "executable",
    script: "script",
    away: "link",
  });
});

test("what is written anew with the same contents has not changed; other contents, a mode or another kind has", async () => {
  await using rig = await inspected([".envrc", ".npmrc", ".exrc"]);
  const stateOf = async (name: string) => (await rig.look()).executionPoints.get(`x/${name}`)?.state;
  const before = await stateOf(".envrc");

  await writeFile(join(rig.mounted, ".envrc"), ".envrc");
  const same = await stateOf(".envrc");
  await writeFile(join(rig.mounted, ".envrc"), ".envrd");
  const other = await stateOf(".envrc");

  expect(same).toBe(before);
  expect(other).not.toBe(before);
});

test("a folder that is gone, or another one in its place, is refused", async () => {
  await using rig = await inspected(["a"]);
  await using other = await temporaryFolder();
  await rename(rig.mounted, join(other.path, "away"));
  const gone = await rig.look();
  await mkdir(rig.mounted);

  expect(gone.refused).toMatch(/has changed since it was judged/);
  expect((await rig.look()).refused).toMatch(/was replaced by another folder/);
});
