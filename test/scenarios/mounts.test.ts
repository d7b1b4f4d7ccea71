import { execFile } from "node:child_process";
import { chmod, chown, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { readAudit } from "../../src/records/audit/read.ts";
import type { AuditRecord } from "../../src/records/audit/record.ts";
import type { TurnReport } from "../../src/operations/turns/turn-view.ts";
import { jsonLines } from "../support/crabpot.ts";
import { TestHost } from "../support/host.ts";
import { startModelHost } from "../support/model-host.ts";

const run = promisify(execFile);
const isRoot = process.geteuid?.() === 0;
/** Somebody whom the folder belongs to. */
const owner = isRoot ? 4321 : (process.geteuid?.() ?? 0);

/** A host with a group that may write in a project with a repository. */
async function hostWithProject(more: object = {}): Promise<{ host: TestHost; project: string } & AsyncDisposable> {
  const host = await TestHost.prepare();
  const project = join(dirname(host.home), "projects/site");
  await mkdir(project, { recursive: true });
  await run("git", ["init", "-q", "-b", "main", project]);
  await writeFile(join(project, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  await give(project);
  const mount = { source: project, target: "site", access: "rw", ...more };
  await host.changeConfig({ groups: { family: { channel: "http", chat: "family", mounts: [mount] } } });
  const roots = [{ path: dirname(project), access: "rw" }];
  await writeFile(join(host.home, "mounts.json"), JSON.stringify({ roots }), { mode: 0o600 });
  await host.boot();
  return { host, project, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}

async function give(path: string): Promise<void> {
  if (isRoot) await run("chown", ["-R", `${owner}:${owner}`, path]);
}

async function recordsOf(host: TestHost, type: string): Promise<AuditRecord[]> {
  const records = await Array.fromAsync(readAudit({ folder: join(host.home, "audit") }));
  return records.filter((record) => record.type === type);
}

/** What `turns show` lists of the group's last turn. */
async function pointsOfLastTurn(host: TestHost): Promise<string[]> {
  const [turn] = jsonLines((await host.cli("turns", "list", "--json")).stdout);
  const { stdout } = await host.cli("turns", "show", String(turn?.["id"]), "--json");
  const { executionPoints } = JSON.parse(stdout) as TurnReport;
  return executionPoints.map(({ change, kind, path }) => `${change} ${kind} ${path}`).toSorted();
}

test("hooks and configuration of a repository stay as they are in a writable mount; all else is work as usual", async () => {
  await using rig = await hostWithProject();
  const { host, project } = rig;
  const verdicts = jsonLines((await host.cli("mounts", "check", "family", "--json")).stdout);

  const { text } = await host.ask(
    "family",
    `@crab run cd /workspace/extra/site
for f in .git/hooks/pre-commit .git/hooks/post-commit .git/config; do (echo evil > $f) 2>&1 | sed 's/.*: //'; done
mv .git/hooks .git/away 2>&1 | sed 's/.*: //'; rm -rf .git/config 2>&1 | sed 's/.*: //'
ln -f .git/HEAD .git/config 2>&1 | sed 's/.*: //'; git config core.fsmonitor evil 2>&1 | tail -1
echo work > file && git add file && git commit -qm work && git log --format=%s && echo through`,
  );

  expect(verdicts[0]).toMatchObject({ verdict: "rw", protectedPaths: [".git/hooks", ".git/config"] });
  expect(text).toContain("work\nthrough");
  expect(await readFile(join(project, ".git/hooks/pre-commit"), "utf8")).toBe("#!/bin/sh\nexit 0\n");
  expect(await readFile(join(project, ".git/config"), "utf8")).not.toContain("evil");
  await expect(stat(join(project, ".git/hooks/post-commit"))).rejects.toThrow("ENOENT");
  expect(await pointsOfLastTurn(host)).toEqual([]);
});

test("without protection an agent may write there, and the operator is told of what it wrote", async () => {
  await using rig = await hostWithProject({ protect: [] });
  const { host } = rig;

  await host.ask(
    "family",
    `@crab run cd /workspace/extra/site && echo 'echo evil' > .git/hooks/pre-commit && echo x > .git/hooks/post-merge
chmod +x .git/hooks/post-merge && git config core.pager evil && mkdir -p .husky .vscode sub/.idea node_modules/x/.vscode
touch .husky/pre-push .vscode/tasks.json sub/.idea/workspace.xml .envrc Makefile node_modules/x/.vscode/tasks.json`,
  );
  const expected = [
    "added direnv .envrc",
    "added editor .vscode/tasks.json",
    "added editor sub/.idea/workspace.xml",
    "added git-hook .git/hooks/post-merge",
    "added git-hook .husky/pre-push",
    "changed git-config .git/config",
    "changed git-hook .git/hooks/pre-commit",
  ];
  await expect.poll(() => pointsOfLastTurn(host)).toEqual(expected);
  const shown = await host.cli("turns", "list", "--json").then(({ stdout }) => jsonLines(stdout)[0]);
  const report = await host.cli("turns", "show", String(shown?.["id"]));
  await host.ask(
    "family",
    "@crab run rm /workspace/extra/site/.envrc; touch /workspace/extra/site/.git/hooks/post-merge",
  );
  await expect.poll(() => pointsOfLastTurn(host)).toEqual(["removed direnv .envrc"]);

  expect(report.stdout).toContain("changed  git-hook  site/.git/hooks/pre-commit");
  expect(await recordsOf(host, "execution-point")).toHaveLength(expected.length + 1);
  expect((await host.cli("logs", "--group", "family")).stdout).toContain("check these before you use them on the host");
});

test("what a turn has left is told of that turn, also when the next one comes at once", async () => {
  await using rig = await hostWithProject();
  const { host } = rig;
  await host.ask("family", "@crab run touch /workspace/extra/site/.envrc");
  await host.ask("family", "@crab run true");
  await host.ask("family", "@crab run true");

  const turns = jsonLines((await host.cli("turns", "list", "--json")).stdout).toReversed();
  const reports = await Promise.all(
    turns.map(
      async ({ id }) => JSON.parse((await host.cli("turns", "show", String(id), "--json")).stdout) as TurnReport,
    ),
  );
  expect(reports.map(({ executionPoints }) => executionPoints.length)).toEqual([1, 0, 0]);
});

test("a repository that is moved out of the way of its protection shows, and the next container is protected again", async () => {
  await using rig = await hostWithProject();
  const { host, project } = rig;
  await host.ask("family", "@crab run true");
  const before = await host.containers();

  await host.ask(
    "family",
    "@crab run cd /workspace/extra/site && mv .git old && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
  );
  await expect
    .poll(() => pointsOfLastTurn(host))
    .toEqual([
      "changed git-folder .git",
      "changed git-hook .git/hooks",
      "changed git-hook .git/hooks/pre-commit",
      "removed git-config .git/config",
    ]);
  const { text } = await host.ask("family", "@crab run echo more >> /workspace/extra/site/.git/hooks/pre-commit");

  expect(text).toContain("Read-only file system");
  expect(await host.containers()).not.toEqual(before);
  expect(await readFile(join(project, ".git/hooks/pre-commit"), "utf8")).toBe("evil\n");
});

test("a change of the repository's configuration on the host takes its protection away for no more than a turn", async () => {
  await using rig = await hostWithProject();
  const { host, project } = rig;
  await host.ask("family", "@crab run true");

  // Git writes a new file in its place.
  await run("git", ["-C", project, "-c", "safe.directory=*", "config", "user.name", "Somebody"]);
  await give(project);
  const { text } = await host.ask("family", "@crab run echo evil >> /workspace/extra/site/.git/config");

  expect(text).toContain("Read-only file system");
  expect(await readFile(join(project, ".git/config"), "utf8")).toContain("Somebody");
});

test("credentials that appear in a mount while its container is hot cost the group the mount, with the reason on record", async () => {
  await using rig = await hostWithProject();
  const { host, project } = rig;
  await host.ask("family", "@crab run echo first");
  await mkdir(join(project, "deep/.ssh"), { recursive: true });
  await writeFile(join(project, "deep/.ssh/id_ed25519"), "the-private-key");
  await give(project);

  const { text } = await host.ask(
    "family",
    "@crab run cat /workspace/extra/site/deep/.ssh/id_ed25519; ls /workspace/extra",
  );
  const verdicts = await recordsOf(host, "mount-verdict");
  const stops = await recordsOf(host, "container-stop");
  await rm(join(project, "deep"), { recursive: true });
  await host.cli("sessions", "stop", "family");
  const again = await host.ask("family", "@crab run ls /workspace/extra");

  expect(text).not.toContain("the-private-key");
  expect(JSON.stringify(verdicts)).toContain("deep/.ssh");
  expect(JSON.stringify(stops)).toContain("deep/.ssh");
  expect((await host.cli("logs", "--group", "family")).stdout).toContain("mount refused: site");
  expect(again.text).toContain("site");
});

test("files that look like secrets are granted and told of, when a container starts and when they appear later", async () => {
  await using rig = await hostWithProject();
  const { host, project } = rig;
  await writeFile(join(project, ".env"), "KEY=1");
  const checked = jsonLines((await host.cli("mounts", "check", "family", "--json")).stdout);
  await host.ask("family", "@crab run true");

  await writeFile(join(project, "server.pem"), "x");
  await host.ask("family", "@crab run true");

  expect(checked[0]).toMatchObject({ verdict: "rw", secrets: [".env"] });
  const verdicts = await recordsOf(host, "mount-verdict");
  expect(verdicts.map(({ data }) => data["secrets"] ?? (data["mounts"] as { secrets: unknown }[])[0]?.secrets)).toEqual(
    [[".env"], [{ target: "site", path: "server.pem" }]],
  );
  expect((await host.cli("logs", "--group", "family")).stdout).toMatch(/\.env[\s\S]*server\.pem/);
});

test.runIf(isRoot)(
  "setuid bits of the agent's files on the host are gone after the turn; those of others stay",
  async () => {
    await using rig = await hostWithProject();
    const { host, project } = rig;
    await writeFile(join(project, "older"), "", { mode: 0o755 });
    await chown(join(project, "older"), owner, owner);
    await chmod(join(project, "older"), 0o4755);
    await host.ask("family", "@crab run true");
    for (const [name, uid] of [
      ["own", owner],
      ["foreign", owner + 1],
    ] as const) {
      await writeFile(join(project, name), "");
      await chown(join(project, name), uid, uid);
      await chmod(join(project, name), 0o6755);
    }

    await host.ask("family", "@crab run mv /workspace/extra/site/own /workspace/extra/site/moved");
    const modeOf = async (name: string) => ((await stat(join(project, name))).mode & 0o7777).toString(8);
    await expect.poll(() => modeOf("moved")).toBe("755");

    expect([await modeOf("older"), await modeOf("foreign")]).toEqual(["4755", "6755"]);
    expect(await recordsOf(host, "setuid-removed")).toMatchObject([
      { group: "family", data: { files: [{ folder: "/workspace/extra/site", mode: "6755" }], count: 1 } },
    ]);
  },
);

test("a group without mounts is not looked at, and its container is used again", async () => {
  await using host = await TestHost.start();
  await host.ask("family", "@crab run true");
  const before = await host.containers();
  await host.ask("family", "@crab run touch /workspace/group/.envrc");

  expect(await host.containers()).toEqual(before);
  expect(await recordsOf(host, "execution-point")).toEqual([]);
});

test("a refused mount is told at start, in the status and to the agent, until it is allowed", async () => {
  const mounts = [{ source: "/srv/nowhere", target: "site" }];
  await using running = await startModelHost(
    ({ system }) => ({ text: /^- not .*$/m.exec(system)?.[0] ?? "nothing is refused" }),
    { groups: { family: { mounts } } },
  );
  const { host } = running;
  const refusedMounts = async (): Promise<unknown> => {
    const { stdout } = await host.cli("status", "--json");
    return jsonLines(stdout)[0]?.["refusedMounts"];
  };

  const atStart = host.output.join("");
  const before = await refusedMounts();
  const { text } = await host.ask("family", "@crab hello");
  await host.changeConfig({ groups: { family: { channel: "http", chat: "family" } } });
  await host.cli("config", "apply");
  const after = await refusedMounts();

  expect(atStart).toContain("mount site of group family is refused: Denied:");
  expect(before).toMatchObject([{ group: "family", source: "/srv/nowhere", target: "site" }]);
  expect(text).toContain("- not /workspace/extra/site: it was asked for, and the host refuses it");
  expect(after).toEqual([]);
});
