import { execFile } from "node:child_process";
import { chmod, chown, link, mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { newestTurn, recordsOf } from "../support/host-records.ts";
import { shareModelHost } from "../support/shared-host.ts";
import { onDisk, temporaryFolder } from "../support/temporary-folder.ts";
import { readStatus } from "../../src/operations/host/operations.ts";
import { stopSession } from "../../src/operations/sessions/operations.ts";
import { editSettings } from "../../src/operations/settings/operations.ts";
import { listTurns, showTurn } from "../../src/operations/turns/operations.ts";

const run = promisify(execFile);
const isRoot = process.geteuid?.() === 0;
/** Somebody whom the folder belongs to. */
const owner = isRoot ? 4321 : (process.geteuid?.() ?? 0);

const projects = await temporaryFolder(onDisk);
afterAll(() => projects[Symbol.asyncDispose]());

/** Groups that may write in a project with a repository, each in its own. */
const names = [
  "usual",
  "unprotected",
  "strict",
  "prompt",
  "moved",
  "configured",
  "leaky",
  "secretive",
  "shown",
  "setuid",
] as const;
for (const name of names) {
  const project = join(projects.path, name);
  await run("git", ["init", "-q", "-b", "main", project]);
  await writeFile(join(project, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  await give(project);
}

function withProject(name: string, more: object = {}): object {
  return { mounts: [{ source: join(projects.path, name), target: "site", access: "rw", ...more }] };
}

const hosts = shareModelHost({
  process: "shared",
  groups: {
    ...(Object.fromEntries(names.map((name) => [name, withProject(name)])) as Record<(typeof names)[number], object>),
    unprotected: withProject("unprotected", { protect: "none" }),
    strict: withProject("strict", { protect: "strict" }),
    shown: withProject("shown", { secrets: "show" }),
    plain: {},
    refused: { model: "asked", mounts: [{ source: "/srv/nowhere", target: "site" }] },
  },
  mounts: { roots: [{ path: projects.path, access: "rw" }] },
  models: { routes: { main: ["offline/scripted"], asked: ["gpt/test-model"] } },
  providers: { offline: { kind: "offline" } },
  withoutContainers: ["refused"],
});

function projectOf(group: (typeof names)[number]) {
  return { ...hosts.running, project: join(projects.path, group) };
}

async function give(path: string): Promise<void> {
  if (isRoot) await run("chown", ["-R", `${owner}:${owner}`, path]);
}

/** Findings listed for the group's last turn. */
async function pointsOfLastTurn(host: TestHost, group: string): Promise<string[]> {
  const { executionPoints } = await newestTurn(host, group);
  return executionPoints.map(({ change, kind, path }) => `${change} ${kind} ${path}`).toSorted();
}

test("a repository and folders of editors stay as they are in a mount that is written at once", async () => {
  const { host, project } = projectOf("usual");
  await mkdir(join(project, "app/.vscode"), { recursive: true });
  await writeFile(join(project, "app/.vscode/tasks.json"), "{}");
  await give(project);
  const verdicts = jsonLines((await host.cli("mounts", "check", "usual", "--json")).stdout);

  const { text } = await host.ask(
    "usual",
    `@crab run cd /workspace/extra/site
for f in .git/hooks/pre-commit .git/hooks/post-commit .git/config .git/new app/.vscode/tasks.json app/.vscode/new
do (echo evil > $f) 2>&1 | sed 's/.*: //'; done
mv .git away 2>&1 | sed 's/.*: //'; rm -rf .git/config 2>&1 | sed 's/.*: //'; mv app/.vscode away 2>&1 | sed 's/.*: //'
ln -f .git/HEAD .git/config 2>&1 | sed 's/.*: //'; git config core.fsmonitor evil 2>&1 | tail -1
echo work > file && git status --short && (git add file 2>&1); echo through`,
  );

  expect(verdicts[0]).toMatchObject({ verdict: "rw", protectedPaths: [".git", "app/.vscode"] });
  expect(text).toContain("?? file");
  expect(text).toMatch(/index\.lock': Read-only file system\nthrough/);
  expect(await readFile(join(project, ".git/hooks/pre-commit"), "utf8")).toBe("#!/bin/sh\nexit 0\n");
  expect(await readFile(join(project, ".git/config"), "utf8")).not.toContain("evil");
  expect(await readFile(join(project, "app/.vscode/tasks.json"), "utf8")).toBe("{}");
  expect(await pointsOfLastTurn(host, "usual")).toEqual([]);
});

test("strictly, nothing that programs run by themselves gets into the folder by itself; all else does", async () => {
  const { host, project } = projectOf("strict");
  await writeFile(join(project, "Makefile"), "all:\n");
  await writeFile(join(project, "notes.txt"), "old\n");
  await give(project);

  const { text } = await host.ask(
    "strict",
    `@crab run cd /workspace/extra/site; (echo evil >> Makefile) 2>&1 | sed 's/.*: //'
echo new > notes.txt; mkdir -p .vscode src; echo evil > .vscode/tasks.json; echo evil > .envrc
echo work > src/main.ts`,
  );
  await expect.poll(() => readFile(join(project, "src/main.ts"), "utf8").catch(() => "")).toBe("work\n");
  await expect.poll(() => readFile(join(project, "notes.txt"), "utf8")).toBe("new\n");
  const planted = (await host.cli("mounts", "planted", "strict")).stdout;

  expect(text).toContain("Read-only file system");
  expect(await readFile(join(project, "Makefile"), "utf8")).toBe("all:\n");
  for (const name of [".vscode", ".envrc"]) await expect(stat(join(project, name))).rejects.toThrow("ENOENT");
  expect(planted).toMatch(
    /added site\/\.envrc \(direnv, waits for people \([0-9A-Z]{6}\), 5 bytes, SHA-256 [0-9a-f]{64}\)/,
  );
  expect(planted).toContain("+evil");
});

test("without protection an agent may write there, and the operator is told what it wrote, with a diff", async () => {
  const { host } = projectOf("unprotected");

  await host.ask(
    "unprotected",
    `@crab run cd /workspace/extra/site && echo 'echo evil' > .git/hooks/pre-commit && echo x > .git/hooks/post-merge
chmod +x .git/hooks/post-merge && git config core.pager evil && mkdir -p .husky .vscode sub/.idea node_modules/x/.vscode
touch .husky/pre-push .vscode/tasks.json sub/.idea/workspace.xml .exrc Makefile node_modules/x/.vscode/tasks.json
printf '\\0' > .babelrc; echo secret > .npmrc`,
  );
  const expected = [
    "added build Makefile",
    "added editor .exrc",
    "added editor .vscode",
    "added editor .vscode/tasks.json",
    "added editor sub/.idea",
    "added editor sub/.idea/workspace.xml",
    "added git-hook .git/hooks/post-merge",
    "added git-hook .husky",
    "added git-hook .husky/pre-push",
    "added linter .babelrc",
    "added package-manager .npmrc",
    "changed git-config .git/config",
    "changed git-hook .git/hooks/pre-commit",
  ];
  await expect.poll(() => pointsOfLastTurn(host, "unprotected")).toEqual(expected);
  const { id } = (await newestTurn(host, "unprotected")).turn;
  const report = await host.cli("turns", "show", id);
  const planted = jsonLines((await host.cli("mounts", "planted", "unprotected", "--json")).stdout);
  await host.ask(
    "unprotected",
    "@crab run rm /workspace/extra/site/.exrc; touch /workspace/extra/site/.git/hooks/post-merge",
  );
  await expect.poll(() => pointsOfLastTurn(host, "unprotected")).toEqual(["removed editor .exrc"]);

  expect(report.stdout).toContain("changed  git-hook  site/.git/hooks/pre-commit");
  expect(await recordsOf(host, "execution-point", "unprotected")).toHaveLength(expected.length + 1);
  expect((await host.cli("logs", "--group", "unprotected")).stdout).toContain(
    "check these before you use them on the host",
  );
  const of = (path: string) => planted.find((one) => one["path"] === path);
  const diff = "@@ -1,2 +1,1 @@\n-#!/bin/sh\n-exit 0\n+echo evil";
  expect(of(".git/hooks/pre-commit")).toMatchObject({
    target: "site",
    state: "made",
    turn: id,
    change: "changed",
    diff,
  });
  expect(of(".babelrc")).toMatchObject({ bytes: 1, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect([of(".babelrc")?.["diff"], of(".npmrc")?.["diff"], of(".npmrc")?.["sha256"]]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("what a turn has left is told about that turn, also when the next one comes at once", async () => {
  const { host } = projectOf("prompt");
  await host.ask("prompt", "@crab run touch /workspace/extra/site/.envrc");
  await host.ask("prompt", "@crab run true");
  await host.ask("prompt", "@crab run true");

  const turns = (await host.control.call(listTurns, { group: "prompt", limit: 10 })).toReversed();
  const reports = await Promise.all(turns.map(({ id }) => host.control.call(showTurn, { id, maxChars: 100 })));
  expect(reports.map(({ executionPoints }) => executionPoints.length)).toEqual([1, 0, 0]);
});

test("a folder with a repository that is moved away shows, and what takes its place is protected next", async () => {
  const { host, project } = projectOf("moved");
  await mkdir(join(project, "sub"));
  await rename(join(project, ".git"), join(project, "sub/.git"));
  await host.ask("moved", "@crab run true");
  const before = await host.containerOf("moved");

  await host.ask(
    "moved",
    `@crab run cd /workspace/extra/site && mv sub old && mkdir -p sub/.git/hooks
echo evil > sub/.git/hooks/pre-commit`,
  );
  await expect
    .poll(() => pointsOfLastTurn(host, "moved"))
    .toEqual([
      "added git-config old/.git/config",
      "added git-folder old/.git",
      "added git-hook old/.git/hooks",
      "added git-hook old/.git/hooks/pre-commit",
      "changed git-folder sub/.git",
      "changed git-hook sub/.git/hooks",
      "changed git-hook sub/.git/hooks/pre-commit",
      "removed git-config sub/.git/config",
    ]);
  const { text } = await host.ask("moved", "@crab run echo more >> /workspace/extra/site/sub/.git/hooks/pre-commit");

  expect(text).toContain("Read-only file system");
  expect((await host.containerOf("moved")).id).not.toBe(before.id);
  expect(await readFile(join(project, "sub/.git/hooks/pre-commit"), "utf8")).toBe("evil\n");
});

test("a change of the repository's configuration on the host does not take its protection away", async () => {
  const { host, project } = projectOf("configured");
  await host.ask("configured", "@crab run true");

  // Git writes a new file in its place.
  await run("git", ["-C", project, "-c", "safe.directory=*", "config", "user.name", "Somebody"]);
  await give(project);
  const { text } = await host.ask("configured", "@crab run echo evil >> /workspace/extra/site/.git/config");

  expect(text).toContain("Read-only file system");
  expect(await readFile(join(project, ".git/config"), "utf8")).toContain("Somebody");
});

test("credentials that appear in a mount while its container is hot cost the group the mount, with the reason on record", async () => {
  const { host, project } = projectOf("leaky");
  await host.ask("leaky", "@crab run echo first");
  await mkdir(join(project, "deep/.ssh"), { recursive: true });
  await writeFile(join(project, "deep/.ssh/id_ed25519"), "the-private-key");
  await give(project);

  const { text } = await host.ask(
    "leaky",
    "@crab run cat /workspace/extra/site/deep/.ssh/id_ed25519; ls /workspace/extra",
  );
  const verdicts = await recordsOf(host, "mount-verdict", "leaky");
  const stops = await recordsOf(host, "container-stop", "leaky");
  await rm(join(project, "deep"), { recursive: true });
  await host.control.call(stopSession, { target: "leaky" });
  const again = await host.ask("leaky", "@crab run ls /workspace/extra");

  expect(text).not.toContain("the-private-key");
  expect(JSON.stringify(verdicts)).toContain("deep/.ssh");
  expect(JSON.stringify(stops)).toContain("deep/.ssh");
  expect((await host.cli("logs", "--group", "leaky")).stdout).toContain("mount refused: site");
  expect(again.text).toContain("site");
});

test("what looks like a secret is covered in a mounted folder, new ones from the next turn on", async () => {
  const { host, project } = projectOf("secretive");
  await mkdir(join(project, "deep/Prod"), { recursive: true });
  await mkdir(join(project, "real"));
  for (const name of [".env", "deep/Prod/My KEY's.PEM", "real/values", "server.key"])
    await writeFile(join(project, name), "the-secret");
  await link(join(project, "server.key"), join(project, "other-name.txt"));
  await symlink("real/values", join(project, ".env.local"));
  await writeFile(join(project, ".env.example"), "a sample");
  await give(project);
  const checked = jsonLines((await host.cli("mounts", "check", "secretive", "--json")).stdout);
  const read = await host.ask(
    "secretive",
    `@crab run cd /workspace/extra/site; grep -rs . . .env.local --exclude-dir=.git; cat other-name.txt
(echo x > .env); mv .env y; ln .env z; cat y z; chmod 777 .env`,
  );
  const asked = await host.ask("secretive", "@crab read /workspace/extra/site/.env");
  const written = await host.ask("secretive", "@crab write /workspace/extra/site/.env mine");
  await writeFile(join(project, "later.pem"), "the-secret");
  await rename(join(project, "server.key"), join(project, "renamed.key"));
  const later = await host.ask(
    "secretive",
    "@crab run cd /workspace/extra/site; cat later.pem renamed.key other-name.txt",
  );

  expect(checked[0]).toMatchObject({ verdict: "rw" });
  expect(String(checked[0]?.["reason"])).toContain("Covered in it, because it looks like secrets: .env");
  expect(read.text).toContain("a sample");
  expect(asked.text).toContain("the-secret");
  expect(written.text).toContain("looks like a secret, so it is covered");
  expect(read.text + later.text).not.toContain("the-secret");
  expect(await readFile(join(project, ".env"), "utf8")).toBe("the-secret");
  expect(JSON.stringify(await recordsOf(host, "mount-verdict", "secretive"))).toContain("later.pem");
});

test("the operator can show what looks like secrets", async () => {
  const { host, project } = projectOf("shown");
  await writeFile(join(project, ".env"), "the-secret");
  await give(project);

  const { text } = await host.ask("shown", "@crab run cat /workspace/extra/site/.env");

  expect(text).toContain("the-secret");
});

test.runIf(isRoot)(
  "setuid bits of the agent's files on the host are gone after the turn; those of others stay",
  async () => {
    const { host, project } = projectOf("setuid");
    await writeFile(join(project, "older"), "", { mode: 0o755 });
    await chown(join(project, "older"), owner, owner);
    await chmod(join(project, "older"), 0o4755);
    await host.ask("setuid", "@crab run true");
    for (const [name, uid] of [
      ["own", owner],
      ["foreign", owner + 1],
    ] as const) {
      await writeFile(join(project, name), "");
      await chown(join(project, name), uid, uid);
      await chmod(join(project, name), 0o6755);
    }

    await host.ask("setuid", "@crab run mv /workspace/extra/site/own /workspace/extra/site/moved");
    const modeOf = async (name: string) => ((await stat(join(project, name))).mode & 0o7777).toString(8);
    await expect.poll(() => modeOf("moved")).toBe("755");

    expect([await modeOf("older"), await modeOf("foreign")]).toEqual(["4755", "6755"]);
    expect(await recordsOf(host, "setuid-removed", "setuid")).toMatchObject([
      { group: "setuid", data: { files: [{ folder: "/workspace/extra/site", mode: "6755" }], count: 1 } },
    ]);
  },
);

test("a group without mounts is not looked at, and its container is used again", async () => {
  const { host } = hosts.running;
  await host.ask("plain", "@crab run true");
  const before = await host.containerOf("plain");
  await host.ask("plain", "@crab run touch /workspace/group/.envrc");

  expect(await host.containerOf("plain")).toEqual(before);
  expect(await recordsOf(host, "execution-point", "plain")).toEqual([]);
});

test("a refused mount is told at start, in the status and to the agent, until it is allowed", async () => {
  const { host } = hosts.running;
  const group = hosts.group("refused", ({ system }) => ({
    text: /^- not .*$/m.exec(system)?.[0] ?? "nothing is refused",
  }));
  const refusedMounts = async () => (await host.control.call(readStatus, {})).refusedMounts;

  const atStart = host.output.join("");
  const before = await refusedMounts();
  const { text } = await group.ask("@crab hello");
  await host.control.call(editSettings, { edits: [{ path: ["groups", "refused", "mounts"], value: undefined }] });
  const after = await refusedMounts();

  expect(atStart).toContain("mount site of group refused is refused: Denied:");
  expect(before).toMatchObject([{ group: "refused", source: "/srv/nowhere", target: "site" }]);
  expect(text).toContain("- not /workspace/extra/site: it was asked for, and the host refuses it");
  expect(after).toEqual([]);
});
