import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { shareModelHost, type TestGroup } from "../support/shared-host.ts";
import { listJobs } from "../../src/abilities/jobs/operations.ts";
import { listSessions } from "../../src/operations/sessions/operations.ts";
import { listTurns } from "../../src/operations/turns/operations.ts";
import { listWork } from "../../src/operations/work/operations.ts";

/** Containers that are at rest are frozen and ended quickly in these, so that it is seen where they are not. */
const resting = shareModelHost({
  groups: { rested: {}, killed: {} },
  config: { sessions: { freezeSeconds: 0.2, idleStopMinutes: 0.01 } },
});
const hosts = shareModelHost({ process: "shared", groups: { looking: {}, lost: {}, listed: {} } });

/** Runs until the group's folder has this file. */
const until = (file: string, then = "true") => `until [ -e ${file} ]; do sleep 0.1; done; ${then}`;

/** Does what the last message says (`background: COMMAND`, `run: COMMAND`), and says what it was told about jobs. */
const model: ModelScript = ({ lastText, messages }) => {
  if (messages.at(-1)?.role === "tool") return { text: `ran: ${lastText}` };
  const work = /<work cause="job-ended" from="(\w+)"[^>]*>(.*)<\/work>/s.exec(lastText);
  if (work) return { text: `told (${work[1]}): ${work[2]}` };
  const [, how, command = ""] = /(background|run): ([^<]*)/.exec(lastText) ?? [];
  if (how === undefined) return { text: "hello" };
  const input = { command: command.trim(), ...(how === "background" ? { background: true } : {}) };
  return { toolCalls: [{ name: "shell", input }] };
};

/** Gives commands the file that they wait for. */
const letGo = ({ host, name }: TestGroup, file = "go") => writeFile(join(host.home, "groups", name, file), "");

const stateOf = async ({ host, name }: TestGroup): Promise<string | undefined> => {
  const sessions = await host.control.call(listSessions, {});
  return sessions.find(({ group }) => group === name)?.container?.state;
};

const jobsOf = ({ host, name }: TestGroup) => host.control.call(listJobs, { group: name, all: true, limit: 20 });

const statesOf = async (group: TestGroup) => (await jobsOf(group)).map(({ state }) => state);

const told = async (group: TestGroup) =>
  (await group.replies()).map(({ text }) => text).filter((text) => text.startsWith("told"));

/** Waits until its agent was told so often of jobs. */
const untilTold = (group: TestGroup, times: number) => expect.poll(() => told(group)).toHaveLength(times);

const workOf = ({ host, name }: TestGroup) => host.control.call(listWork, { group: name, state: undefined, limit: 20 });

test("a container with a job is neither frozen nor ended; the job's end wakes its agent, and then the container rests", async () => {
  const group = resting.group("rested", model);
  const { host } = group;

  const reply = await group.ask(`@crab background: ${until("go", "echo all done; exit 3")}`);
  const [id] = /job-[0-9a-z]+/.exec(reply.text) ?? [];
  await expect.poll(() => statesOf(group)).toEqual(["running"]);
  const before = await group.containers();
  await group.ask("@crab run: true");
  // The same host freezes and ends a container in which nothing runs meanwhile.
  const other = resting.group("killed", () => ({ text: "hello" }));
  await other.ask("@crab hi");
  await expect.poll(() => other.containers()).toEqual([]);
  const after = [await group.containers(), await stateOf(group), (await group.events("container.frozen")).length];
  const [listed] = jsonLines((await host.cli("jobs", "list", "--all", "--json")).stdout);
  await letGo(group);
  await untilTold(group, 1);

  expect(after).toEqual([before, "idle", 0]);
  expect(Object.keys(listed ?? {})).toEqual([
    "id",
    "group",
    "session",
    "command",
    "state",
    "startedAt",
    "endedAt",
    "exitCode",
  ]);
  expect(listed).toMatchObject({ id, group: "rested", state: "running", endedAt: null, exitCode: null });
  const [text] = await told(group);
  expect(text).toMatch(new RegExp(`told \\(owner|member\\): Background job ${id} has ended after \\d+ s: exit code 3`));
  expect(text).toContain("all done");
  expect((await jobsOf(group))[0]).toMatchObject({ id, state: "exited", exitCode: 3 });
  await expect.poll(() => group.containers()).toEqual([]);
  expect(await group.events("job.*")).toMatchObject([{ type: "job.started" }, { type: "job.ended" }]);
  expect(await workOf(group)).toMatchObject([
    { cause: "job-ended", state: "settled", dedupe: expect.stringMatching(/^job:\w+:job-/) },
  ]);
});

/** Starts a job, lets it end, and says whether it was told so in the same turn. */
const looksOn: ModelScript = ({ lastText, messages }) => {
  const calls = messages.filter(({ role }) => role === "tool").length;
  if (lastText.includes("job-ended")) return { text: "told on the way" };
  if (calls === 0) return { toolCalls: [{ name: "shell", input: { command: until("go"), background: true } }] };
  if (calls === 1) return { toolCalls: [{ name: "shell", input: { command: `touch go; ${until("reported")}` } }] };
  return { text: "not told" };
};

test("a turn hears about the end of the job it started with its next step, and not once more afterwards", async () => {
  const group = hosts.group("looking", looksOn);

  const said = await group.say("@crab go");
  await expect.poll(() => statesOf(group)).toEqual(["exited"]);
  await letGo(group, "reported");
  const reply = await group.replyTo(said.id);
  const again = await group.ask("@crab and now");

  expect(reply.text).toBe("told on the way");
  expect(again.kind).toBe("reply");
  expect(await workOf(group)).toMatchObject([{ cause: "job-ended", state: "settled" }]);
  const turns = await group.host.control.call(listTurns, { group: "looking", state: undefined, limit: 20 });
  expect(turns.map(({ cause }) => cause)).toEqual(["message", "message"]);
});

test("a job outlives kill -9 of the host: its container is taken over, and its end is told once", async () => {
  const group = resting.group("killed", model);
  const { host } = group;
  await group.ask(`@crab background: ${until("go", "echo survived")}`);
  await expect.poll(() => statesOf(group)).toEqual(["running"]);
  await expect.poll(() => stateOf(group)).toBe("idle");
  const before = await group.containers();

  await host.end("SIGKILL");
  const left = jsonLines((await host.cli("jobs", "list", "--group", "killed", "--json")).stdout);
  await host.boot();
  const after = await group.containers();
  await host.end("SIGKILL");
  await letGo(group);
  await host.boot();
  await untilTold(group, 1);
  await host.end("SIGKILL");
  await host.boot();
  await group.ask("@crab hi");

  expect(left).toMatchObject([{ state: "running" }]);
  expect(after).toEqual(before);
  expect(await told(group)).toEqual([expect.stringContaining("survived")]);
  expect(await jobsOf(group)).toMatchObject([{ state: "exited", exitCode: 0 }]);
});

test("when its container ends, a job is lost and its agent is told; with /new nobody is told", async () => {
  const group = hosts.group("lost", model);
  await group.ask("@crab background: sleep 1000");
  await group.host.cli("sessions", "stop", "lost");
  await untilTold(group, 1);

  await group.ask("@crab background: sleep 1001");
  await expect.poll(() => statesOf(group)).toEqual(["running", "lost"]);
  await group.ask("/new");
  await expect.poll(() => statesOf(group)).toEqual(["lost", "lost"]);
  await group.ask("@crab hi");

  expect(await told(group)).toEqual([expect.stringContaining("was lost")]);
});

test("/stop ends the turn and not the job, and says so; /jobs lists and stops, and so does the operator", async () => {
  const group = hosts.group("listed", model);
  const { host } = group;
  await group.ask("@crab background: sleep 1000");
  await group.ask("@crab background: sleep 1001");
  await expect.poll(async () => (await jobsOf(group)).length).toBe(2);
  const [second, first] = (await jobsOf(group)).map(({ id }) => id);

  const stop = await group.ask("/stop");
  const list = await group.ask("/jobs");
  const stopped = await group.ask(`/jobs stop ${first ?? ""}`);
  const again = await group.ask(`/jobs stop ${first ?? ""}`);
  const byOperator = await host.cli("jobs", "stop", second ?? "", "--json");
  await untilTold(group, 2);

  expect(stop.text).toContain(
    `Still running in the background; stop with /jobs stop ID:\n${first}: sleep 1000\n${second}: sleep 1001`,
  );
  expect(list.text).toBe(`${first}: sleep 1000\n${second}: sleep 1001`);
  expect(stopped.text).toBe(`${first} was stopped.`);
  expect(again.text).toBe("This group has nothing of that name, or it has ended.");
  expect(JSON.parse(byOperator.stdout)).toMatchObject({ id: second, state: "stopped" });
  expect((await host.cli("jobs", "stop", "job-0")).stderr).toContain("No background job job-0 is running.");
  expect(await told(group)).toEqual([
    expect.stringContaining("stopped by somebody in the chat"),
    expect.stringContaining("stopped by the operator"),
  ]);
});
