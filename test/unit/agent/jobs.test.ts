import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { AgentPayload } from "../../../src/protocol/messages.ts";
import { AgentProcess } from "../../fixtures/agent/agent-process.ts";

const jobId = /job-[0-9][0-9a-z]{5}/;

/** A real agent that may have jobs. */
async function startAgent(atOnce = 4, seconds = 600): Promise<AgentProcess> {
  const agent = await AgentProcess.start();
  agent.jobs = { atOnce, seconds };
  return agent;
}

async function begin(agent: AgentProcess, command: string): Promise<string> {
  const { output, isError } = await agent.useTool("shell", { command, background: true });
  expect({ output, isError }).toEqual({ output: expect.stringMatching(jobId), isError: false });
  return jobId.exec(output)?.[0] ?? "";
}

type Ended = Extract<AgentPayload, { type: "job-ended" }>;

/** The agent's report of a job's end, after `count` of them, which may come between turns. */
async function endOf(agent: AgentProcess, count = 1): Promise<Ended | undefined> {
  const ends = () => agent.received.filter((payload): payload is Ended => payload.type === "job-ended");
  await expect.poll(() => ends().length).toBe(count);
  return ends().at(-1);
}

const jobs = (agent: AgentProcess, input: object) => agent.useTool("jobs", input);

async function isRunning(agent: AgentProcess, file: string): Promise<boolean> {
  const pid = Number(await readFile(join(agent.workspace, file), "utf8"));
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a job begins where the shell is, is announced with its turn, and its end is told with code and output", async () => {
  await using agent = await startAgent();
  await agent.shell("mkdir inner && cd inner; export COLOR=red");

  const id = await begin(agent, 'echo "$COLOR $PWD"; [ -e go ] || until [ -e go ]; do sleep 0.05; done; exit 3');
  const started = agent.received.find(({ type }) => type === "job-started");
  const listed = await jobs(agent, { action: "list" });
  const busy = await agent.shell("echo free");
  await agent.shell("touch go");
  const ended = await endOf(agent);

  expect(started).toMatchObject({ job: id, turn: "turn-2", command: expect.stringContaining("echo") });
  expect(listed.output).toContain(`${id}: running for`);
  expect(busy.output).toContain("free");
  expect(ended).toEqual({
    type: "job-ended",
    job: id,
    outcome: "exited",
    exitCode: 3,
    output: `red ${agent.workspace}/inner`,
    toldModel: false,
  });
  expect((await jobs(agent, { action: "output", id })).output).toMatch(
    /^red .*\n\[job-\w+: exit code 3, after \d+ s; its output is in .*\.txt\]$/,
  );
});

test("a command that reaches its time-out goes on as a job, with what it had printed; the next one gets a new shell in the same place", async () => {
  await using agent = await startAgent();
  await agent.shell("mkdir inner && cd inner; export COLOR=red; plain=1");

  const result = await agent.shell("echo before; until [ -e go ]; do sleep 0.05; done; echo after", 1);
  const id = jobId.exec(result.output)?.[0];
  const next = await agent.shell("echo $PWD $COLOR ${plain-gone}; touch go");
  const ended = await endOf(agent);

  expect(result.isError).toBe(false);
  expect(result.output).toMatch(/^before\n\[still running after 1 s: it goes on as job-/);
  expect(next.output).toContain(`${agent.workspace}/inner red gone`);
  expect(ended).toMatchObject({ job: id, outcome: "exited", exitCode: 0, output: "before\nafter" });
});

test("beyond the limit nothing begins, and a command that runs out of time is killed and says why", async () => {
  await using agent = await startAgent(1);
  await begin(agent, "sleep 1000");

  const second = await agent.useTool("shell", { command: "touch ran", background: true });
  const late = await agent.shell("echo $$ > pid; sleep 1000", 1);

  expect(second).toEqual({ output: "The command was not run: 1 jobs run already, which is the limit.", isError: true });
  expect(late.isError).toBe(true);
  expect(late.output).toContain("timed out after 1 s");
  expect(late.output).toContain("it could not go on as a job: 1 jobs run already, which is the limit");
  expect(await isRunning(agent, "pid")).toBe(false);
  expect(await readdir(agent.workspace)).toEqual(["pid"]);
});

test("where no jobs are allowed there are none", async () => {
  await using agent = await AgentProcess.start();

  const refused = await agent.useTool("shell", { command: "touch ran", background: true });

  expect(refused).toEqual({ output: "The command was not run: jobs are not allowed here.", isError: true });
  expect(await readdir(agent.workspace)).toEqual([]);
});

test("a job that is stopped ends with all that it started, also what left its group; the shell beside it lives on", async () => {
  await using agent = await startAgent();
  await agent.shell("kept=1");
  const id = await begin(
    agent,
    "trap '' TERM; sleep 1000 & echo $! > child; setsid sleep 1001 & echo $! > other; wait",
  );
  await expect.poll(() => readdir(agent.workspace)).toEqual(["child", "other"]);
  await expect.poll(() => readFile(join(agent.workspace, "other"), "utf8")).toMatch(/\d+\n/);

  const stopped = await jobs(agent, { action: "stop", id });
  const again = await jobs(agent, { action: "stop", id });

  expect(stopped.output).toMatch(new RegExp(`\\[${id}: stopped after \\d+ s;`));
  expect(again).toMatchObject({ isError: true, output: expect.stringContaining("is not running anymore") });
  expect(await endOf(agent)).toMatchObject({ job: id, outcome: "stopped", toldModel: true });
  // Somebody else has to collect what is left of them.
  await expect.poll(() => isRunning(agent, "child")).toBe(false);
  await expect.poll(() => isRunning(agent, "other")).toBe(false);
  expect((await agent.shell("echo $kept")).output).toMatch(/^1\n/);
});

test("the host can stop a job, also between turns", async () => {
  await using agent = await startAgent();
  const id = await begin(agent, "sleep 1000");

  await agent.send({ type: "job-stop", job: id });

  expect(await endOf(agent)).toMatchObject({ job: id, outcome: "stopped", toldModel: false });
});

test("a job that runs for longer than it may is ended", async () => {
  await using agent = await startAgent(4, 1);
  const id = await begin(agent, "echo still here; sleep 1000");

  expect(await endOf(agent)).toMatchObject({ job: id, outcome: "expired", output: "still here" });
  expect((await jobs(agent, { action: "list" })).output).toContain("as long as it was allowed to run");
});

test("a turn that is cancelled leaves its jobs running", async () => {
  await using agent = await startAgent();
  const turn = await agent.beginTurn();
  await agent.callTools(turn, [
    {
      id: "a",
      name: "shell",
      input: { command: "until [ -e go ]; do sleep 0.05; done; echo finished", background: true },
    },
    { id: "b", name: "shell", input: { command: "touch asked; sleep 1000" } },
  ]);
  await expect.poll(() => readdir(agent.workspace)).toEqual(["asked"]);

  await agent.send({ type: "cancel", turn, reason: "enough" });
  expect(await agent.next("turn-end")).toMatchObject({ outcome: "cancelled" });
  await agent.shell("touch go");

  expect(await endOf(agent)).toMatchObject({ outcome: "exited", exitCode: 0, output: "finished" });
});

test("of what a job prints the last megabytes are kept, in two files", async () => {
  await using agent = await startAgent();
  const id = await begin(agent, "head -c 30M /dev/zero | tr '\\0' x; echo; echo the end");
  await endOf(agent);

  const { output } = await jobs(agent, { action: "output", id, tail: 1 });
  const files = await readdir(join(agent.home, "jobs"));
  const sizes = await Promise.all(files.map(async (name) => (await readFile(join(agent.home, "jobs", name))).length));

  expect(output).toMatch(/^the end\n\[/);
  expect(files.toSorted()).toEqual([`${id}.earlier.txt`, `${id}.txt`]);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(4 * 1024 * 1024);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(4 * 1024 * 1024);
});

test("a job that does not exist is told with those that do", async () => {
  await using agent = await startAgent();

  expect(await jobs(agent, { action: "list" })).toEqual({ output: "There are no jobs.", isError: false });
  expect(await jobs(agent, { action: "output", id: "job-1" })).toEqual({
    output: "There is no job job-1. There are no jobs.",
    isError: true,
  });
  expect(await jobs(agent, { action: "stop" })).toMatchObject({
    isError: true,
    output: "id: say which job. There are no jobs.",
  });
});

test("only the newest of the jobs that are over are kept", async () => {
  await using agent = await startAgent();
  const ids = [];
  for (let count = 0; count < 10; count += 1) {
    ids.push(await begin(agent, "true"));
    await endOf(agent, ids.length);
  }

  const { output } = await jobs(agent, { action: "list" });
  const files = await readdir(join(agent.home, "jobs"));

  expect(output.split("\n").map((line) => jobId.exec(line)?.[0])).toEqual(ids.slice(2));
  expect(files).toHaveLength(8);
});
