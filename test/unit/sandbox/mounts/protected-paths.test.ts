import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { identifyFolder } from "../../../../src/sandbox/mounts/identity.ts";
import { MountInspector } from "../../../../src/sandbox/mounts/inspector.ts";
import { judgeMounts, type MountGrant } from "../../../../src/sandbox/mounts/rules.ts";
import { pretendMachine } from "../../../support/pretend-machine.ts";

const machine = await pretendMachine();
afterAll(() => machine[Symbol.asyncDispose]());
const context = { ...machine.context, reviewFault: () => Promise.resolve(undefined) };
let projects = 0;

/** A folder with these files, and what a group gets that asks for it. */
async function project(files: readonly string[]) {
  const root = join(machine.path, `home/projects/protected-${projects++}`);
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), "");
  }
  const judge = async (more: object = {}) => {
    const [verdict] = await judgeMounts([{ source: root, target: "x", access: "rw", ...more }], context);
    if (!verdict) throw new Error("no verdict");
    return verdict;
  };
  return { root, judge };
}

function pathsOf(verdict: object): string[] {
  return ((verdict as MountGrant).protect ?? []).map(({ path }) => path);
}

const usual = [
  ".git/HEAD",
  "sub/.GIT/config",
  "worktree/.git",
  "bare/HEAD",
  "bare/objects/x",
  "bare/refs/x",
  "linked/HEAD",
  "linked/commondir",
  ".vscode/tasks.json",
  "a/b/.cursor/mcp.json",
  ".Claude/settings.json",
  ".idea/workspace.xml",
  ".devcontainer.json",
  "b/.devcontainer/devcontainer.json",
  ".husky/pre-push",
  ".github/workflows/ci.yml",
];
const work = [
  "src/main.ts",
  "HEAD",
  ".github/CODEOWNERS",
  "workflows/x",
  ".gitignore",
  "Makefile",
  "node_modules/a/.vscode/x",
];
const kept = [
  ".Claude",
  ".devcontainer.json",
  ".git",
  ".github/workflows",
  ".husky",
  ".idea",
  ".vscode",
  "a/b/.cursor",
  "b/.devcontainer",
  "bare",
  "linked",
  "sub/.GIT",
  "worktree/.git",
];

test("in a mount that is written at once, repositories of any shape and folders of tools stay read-only", async () => {
  const { judge } = await project([...usual, ...work]);

  const verdict = await judge({ secrets: "show" });

  expect(verdict).toMatchObject({ verdict: "rw", protection: "standard" });
  expect(pathsOf(verdict)).toEqual(kept);
  expect(verdict.reason).toContain("Read-only in it: .Claude, .devcontainer.json, .git,");
  expect(pathsOf(await judge({ protect: ["src/main.ts", "gone"] }))).toEqual([...kept, "src/main.ts"].toSorted());
  expect(pathsOf(await judge({ protect: "none" }))).toEqual([]);
  expect((await judge({ protect: "none" })).reason).toContain("Nothing in it is protected.");
  expect(pathsOf(await judge({ access: "ro" }))).toEqual([]);
  expect(pathsOf(await judge({ access: "review" }))).toEqual([]);
});

test(".envrc is protected where secrets are shown, and covered where they are not", async () => {
  const { judge } = await project(["a/.envrc"]);

  expect(pathsOf(await judge({ secrets: "show" }))).toEqual(["a/.envrc"]);
  expect(await judge()).toMatchObject({ protect: [], covered: [{ path: "a/.envrc" }] });
});

test("strictly, so does all that programs run by themselves; what is new of it waits, in a layer", async () => {
  const { root, judge } = await project([...usual, ...work]);
  await writeFile(join(root, "run"), "", { mode: 0o755 });

  const strict = await judge({ protect: "strict" });

  expect(strict).toMatchObject({ verdict: "review", reason: expect.stringContaining("waits for people") });
  const more = ["Makefile", ".github", ".gitignore", "run"];
  expect(pathsOf(strict)).toEqual([...kept.filter((path) => path !== ".github/workflows"), ...more].toSorted());
  expect(await judge({ protect: "strict", access: "ro" })).toMatchObject({ verdict: "ro", protect: [] });
});

test("in a folder that is a repository itself what Git obeys is read-only; one with too many is refused", async () => {
  const bare = await project(["HEAD", "objects/x", "refs/x", "config", "hooks/x", "packed-refs"]);
  const crowded = await project(Array.from({ length: 257 }, (_, index) => `${index}/.vscode/x`));

  expect(pathsOf(await bare.judge())).toEqual(["config", "hooks"]);
  expect(await crowded.judge()).toMatchObject({
    verdict: "denied",
    rule: "contents",
    reason: expect.stringContaining("257 repositories and folders of tools, and at most 256"),
  });
});

test("what cannot be protected is named: links, and names below one", async () => {
  const { root, judge } = await project(["real/x"]);
  await symlink("real", join(root, ".vscode"));

  expect((await judge()).reason).toContain("Not protected: .vscode is a link.");
});

test("what an agent or a person makes is protected from the next turn on", async () => {
  const { root, judge } = await project([".vscode/x", "keep"]);
  const identity = await identifyFolder(root);
  if (typeof identity === "string") throw new Error(identity);
  const look = async () => {
    const granted = (await judge({ secrets: "show" })) as MountGrant;
    const options = { groupFolder: root, uid: 1, refuseName: () => undefined, refusedNames: [] };
    const inspector = new MountInspector({ ...options, granted: [granted] });
    return async () => (await inspector.look(0, new AbortController().signal)).outdated;
  };
  const first = await look();
  const same = await first();
  await mkdir(join(root, "sub/.git"), { recursive: true });
  const added = await first();
  const second = await look();
  const protectedNow = await second();
  await rename(join(root, ".vscode"), join(root, "away"));
  await mkdir(join(root, ".vscode"));
  const replaced = await second();
  await rm(join(root, ".vscode"), { recursive: true });

  expect([same, protectedNow, await (await look())()]).toEqual([undefined, undefined, undefined]);
  expect(added).toBe("The mount x is made anew: sub/.git is not protected.");
  expect(replaced).toBe("The mount x is made anew: .vscode is not protected.");
});

test("what is covered and protected is so by each way to it, also through a second mount of a part", async () => {
  const { root } = await project(["sub/.ENV", "sub/.vscode/x"]);
  const verdicts = await judgeMounts(
    [
      { source: root, target: "whole", access: "rw" },
      { source: join(root, "sub"), target: "part", access: "rw" },
    ],
    context,
  );

  expect(verdicts).toMatchObject([{ covered: [{ path: "sub/.ENV" }] }, { covered: [{ path: ".ENV" }] }]);
  expect(verdicts.map(pathsOf)).toEqual([["sub/.vscode"], [".vscode"]]);
});
