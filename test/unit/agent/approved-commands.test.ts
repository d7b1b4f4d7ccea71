import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { AllowedRun } from "../../../src/protocol/messages.ts";
import { AgentProcess } from "../../fixtures/agent/agent-process.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

async function run(agent: AgentProcess, command: string, approved: AllowedRun, more: object = {}) {
  const [result] = await agent.useTools({ name: "shell", input: { command, ...more }, approved });
  return result ?? { output: "", isError: true };
}

test("an approved command runs in a fresh shell in its folder; the session's shell stays as it is", async () => {
  await using agent = await AgentProcess.start();
  const evil = join(agent.workspace, "evil");
  await mkdir(join(agent.workspace, "app"));
  await mkdir(evil);
  await writeFile(join(evil, "hostname"), "#!/bin/sh\necho EVIL", { mode: 0o755 });
  await agent.shell(`cd app; x=set; export PATH=${evil}:$PATH GIT_DIR=/tmp/e`);
  await agent.shell(
    "pwd() { echo EVIL; }; shopt -s expand_aliases; alias ls='echo EVIL'; trap 'echo EVIL' DEBUG; set -f",
  );
  const command = 'pwd; ls -d /; hostname; echo "[$x][$GIT_DIR][$-]"; echo *';

  const approved = await run(agent, command, { directory: agent.workspace });
  const after = await agent.shell("trap - DEBUG; hostname; echo $x; builtin pwd");

  expect(approved.output).not.toContain("EVIL");
  expect(approved.output).toContain(`${agent.workspace}\n/\n`);
  expect(approved.output).toContain("[][][hBs]\napp evil\n");
  expect(after.output).toContain(`EVIL\nset\n${agent.workspace}/app\n`);
});

test("what an approved command sets does not stay, and it says so; what it leaves running ends", async () => {
  await using agent = await AgentProcess.start();
  await mkdir(join(agent.workspace, "app"));

  const moved = await run(agent, "sleep 1000 & cd app", { directory: agent.workspace });
  const exported = await run(agent, "export A=b", { directory: agent.workspace });
  const plain = await run(agent, "echo hello", { directory: agent.workspace });
  const after = await agent.shell('pwd; echo "[$A]"; pgrep -c -f "^sleep 1000" || true');

  expect(moved.output).toContain("it ran in a separate shell: folder, variables and the like do not stay");
  expect(exported.output).toContain("separate shell");
  expect(plain.output).toMatch(/^hello\n\[exit code 0, \S+ s\]$/);
  expect(after.output).toContain(`${agent.workspace}\n[]\n`);
});

test("an approved command is not run where its folder is gone, or has become another one", async () => {
  await using agent = await AgentProcess.start();
  const folder = join(agent.workspace, "build");
  await mkdir(folder);
  await mkdir(join(agent.workspace, "other"));
  const approved = { directory: folder };
  const before = await run(agent, "pwd", approved);
  await rm(folder, { recursive: true });

  const gone = await run(agent, "touch ran", approved);
  await symlink(join(agent.workspace, "other"), folder);
  const replaced = await run(agent, "touch ran", approved);
  const asJob = await run(agent, "touch ran", approved, { background: true });

  expect(before.output).toContain(folder);
  for (const refused of [gone, replaced, asJob]) {
    expect(refused).toMatchObject({ isError: true });
    expect(refused.output).toContain(`the folder ${folder}, which people were shown, no longer exists`);
  }
  await expect(readFile(join(agent.workspace, "other", "ran"))).rejects.toThrow("ENOENT");
});

test("a command whose script was swapped, removed or made since it was shown is not run", async () => {
  await using agent = await AgentProcess.start();
  const path = join(agent.workspace, "x.sh");
  await writeFile(path, "echo good\n");
  await writeFile(join(agent.workspace, "data"), Buffer.from([0, 1]));
  const turn = await agent.beginTurn();
  await agent.send({ type: "script-request", turn, request: 7, paths: ["x.sh", "data", "no.sh", "/dev/zero"] });
  const shown = await agent.next("scripts");
  await agent.finishTurn(turn);
  const approved = { directory: agent.workspace, scripts: [{ path: "x.sh", sha256: sha256("echo good\n") }] };

  const same = await run(agent, "sh x.sh", approved);
  await writeFile(join(agent.workspace, "new"), "echo EVIL\n");
  await rename(join(agent.workspace, "new"), path);
  const swapped = await run(agent, "sh x.sh", approved);
  const came = await run(agent, "sh x.sh", { directory: agent.workspace, scripts: [{ path: "x.sh" }] });
  await rm(path);
  const removed = await run(agent, "sh x.sh", approved);
  const made = await run(agent, "echo echo made > x.sh; sh x.sh", {
    directory: agent.workspace,
    scripts: [{ path: "x.sh" }],
  });

  expect(shown).toMatchObject({
    request: 7,
    scripts: [
      { path: "x.sh", sha256: sha256("echo good\n"), bytes: 10, beginning: "echo good\n" },
      { path: "data", bytes: 2 },
      { path: "no.sh" },
      { path: "/dev/zero" },
    ],
  });
  expect(same.output).toContain("good\n");
  for (const refused of [swapped, came, removed]) {
    expect(refused.isError).toBe(true);
    expect(refused.output).toContain("Nothing was run: the file x.sh has changed since it was shown");
  }
  expect(made.output).toContain("made\n");
});
