import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";

const quickly = { sessions: { freezeSeconds: 0.2, idleStopMinutes: 0.01 } };
/** Runs until the group's folder has this file. */
const until = (file: string, then = "true") => `until [ -e ${file} ]; do sleep 0.1; done; ${then}`;

/** Does what the last message says (`background: COMMAND`, `run: COMMAND`), and says what it was told of jobs. */
const model: ModelScript = ({ lastText, messages }) => {
  if (messages.at(-1)?.role === "tool") return { text: `ran: ${lastText}` };
  const work = /<work cause="job-ended" from="(\w+)"[^>]*>(.*)<\/work>/s.exec(lastText);
  if (work) return { text: `told (${work[1]}): ${work[2]}` };
  const [, how, command = ""] = /(background|run): ([^<]*)/.exec(lastText) ?? [];
  if (how === undefined) return { text: "hello" };
  const input = { command: command.trim(), ...(how === "background" ? { background: true } : {}) };
  return { toolCalls: [{ name: "shell", input }] };
};

/** What the jobs here wait for. */
const letGo = (host: TestHost) => writeFile(join(host.home, "groups", "family", "go"), "");

const stateOf = async (host: TestHost): Promise<unknown> => {
  const [session] = jsonLines((await host.cli("sessions", "list", "--json")).stdout);
  return (session?.["container"] as { state: string } | undefined)?.state;
};

const jobsOf = async (host: TestHost, ...options: string[]) =>
  jsonLines((await host.cli("jobs", "list", "--all", "--json", ...options)).stdout);

const told = async (host: TestHost) =>
  (await host.replies()).map(({ text }) => text).filter((text) => text.startsWith("told"));

const events = async (host: TestHost, type: string) =>
  jsonLines((await host.cli("events", "tail", "--after", "0", "--type", type, "--json")).stdout);

test("a container with a job is neither frozen nor ended; the job's end wakes its agent, and then the container rests", async () => {
  await using running = await startModelHost(model, { config: quickly });
  const { host } = running;

  const reply = await host.ask("family", `@crab background: ${until("go", "echo all done; exit 3")}`);
  const [id] = /job-[0-9a-z]+/.exec(reply.text) ?? [];
  await vi.waitUntil(async () => (await jobsOf(host)).length === 1);
  const before = await host.containers();
  // As long as it takes to freeze and to end a container in which nothing runs.
  await host.ask("family", "@crab run: sleep 2");
  const sinceLast = Date.now();
  await vi.waitUntil(() => Date.now() - sinceLast > 2_500, { timeout: 10_000 });
  const after = [await host.containers(), await stateOf(host), (await events(host, "container.frozen")).length];
  const [listed] = await jobsOf(host);
  await letGo(host);
  await expect.poll(() => told(host), { timeout: 30_000 }).toHaveLength(1);

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
  expect(listed).toMatchObject({ id, group: "family", state: "running", endedAt: null, exitCode: null });
  const [text] = await told(host);
  expect(text).toMatch(new RegExp(`told \\(owner|member\\): Background job ${id} has ended after \\d+ s: exit code 3`));
  expect(text).toContain("all done");
  expect((await jobsOf(host))[0]).toMatchObject({ id, state: "exited", exitCode: 3 });
  await expect.poll(() => host.containers(), { timeout: 30_000 }).toEqual([]);
  expect(await events(host, "job.*")).toMatchObject([{ type: "job.started" }, { type: "job.ended" }]);
  const work = jsonLines((await host.cli("work", "list", "--json")).stdout);
  expect(work).toMatchObject([
    { cause: "job-ended", state: "settled", dedupe: expect.stringMatching(/^job:\w+:job-/) },
  ]);
});

/** Starts a job, lets it end, and says whether it was told so in the same turn. */
const looksOn: ModelScript = ({ lastText, messages }) => {
  const calls = messages.filter(({ role }) => role === "tool").length;
  if (lastText.includes("job-ended")) return { text: "told on the way" };
  if (calls === 0) return { toolCalls: [{ name: "shell", input: { command: until("go"), background: true } }] };
  // Enough time for the report of the end, which does not pass the tool's result.
  if (calls === 1) return { toolCalls: [{ name: "shell", input: { command: "touch go; sleep 3" } }] };
  return { text: "not told" };
};

test("a turn is told of the end of its own job with its next step, and not once more afterwards", async () => {
  await using running = await startModelHost(looksOn);
  const { host } = running;

  const reply = await host.ask("family", "@crab go");
  const again = await host.ask("family", "@crab and now");
  const work = jsonLines((await host.cli("work", "list", "--json")).stdout);

  expect(reply.text).toBe("told on the way");
  expect(again.kind).toBe("reply");
  expect(work).toMatchObject([{ cause: "job-ended", state: "settled" }]);
  const turns = jsonLines((await host.cli("turns", "list", "--json")).stdout);
  expect(turns.map(({ cause }) => cause)).toEqual(["message", "message"]);
});

test("a job outlives kill -9 of the host: its container is taken over, and its end is told once", async () => {
  await using running = await startModelHost(model, { config: quickly });
  const { host } = running;
  await host.ask("family", `@crab background: ${until("go", "echo survived")}`);
  await expect.poll(async () => (await jobsOf(host)).map(({ state }) => state)).toEqual(["running"]);
  await expect.poll(() => stateOf(host)).toBe("idle");
  const before = await host.containers();

  await host.end("SIGKILL");
  const left = await jobsOf(host);
  await host.boot();
  const after = await host.containers();
  await host.end("SIGKILL");
  await letGo(host);
  await host.boot();
  await expect.poll(() => told(host), { timeout: 30_000 }).toHaveLength(1);
  await host.end("SIGKILL");
  await host.boot();
  await host.ask("family", "@crab hi");

  expect(left).toMatchObject([{ state: "running" }]);
  expect(after).toEqual(before);
  expect(await told(host)).toEqual([expect.stringContaining("survived")]);
  expect(await jobsOf(host)).toMatchObject([{ state: "exited", exitCode: 0 }]);
});

test("when its container ends, a job is lost and its agent is told; with /new nobody is told", async () => {
  await using running = await startModelHost(model);
  const { host } = running;
  await host.ask("family", "@crab background: sleep 1000");
  await host.cli("sessions", "stop", "family");
  await expect.poll(() => told(host), { timeout: 30_000 }).toHaveLength(1);

  await host.ask("family", "@crab background: sleep 1001");
  await expect.poll(async () => (await jobsOf(host)).map(({ state }) => state)).toEqual(["running", "lost"]);
  await host.ask("family", "/new");
  await expect.poll(async () => (await jobsOf(host)).map(({ state }) => state)).toEqual(["lost", "lost"]);
  await host.ask("family", "@crab hi");

  expect(await told(host)).toEqual([expect.stringContaining("was lost")]);
});

test("/stop ends the turn and not the job, and says so; /jobs lists and stops, and so does the operator", async () => {
  await using running = await startModelHost(model);
  const { host } = running;
  await host.ask("family", "@crab background: sleep 1000");
  await host.ask("family", "@crab background: sleep 1001");
  await expect.poll(async () => (await jobsOf(host)).length).toBe(2);
  const [second, first] = (await jobsOf(host)).map(({ id }) => String(id));

  const stop = await host.ask("family", "/stop");
  const list = await host.ask("family", "/jobs");
  const stopped = await host.ask("family", `/jobs stop ${first ?? ""}`);
  const again = await host.ask("family", `/jobs stop ${first ?? ""}`);
  const byOperator = await host.cli("jobs", "stop", second ?? "", "--json");
  await expect.poll(() => told(host), { timeout: 30_000 }).toHaveLength(2);

  expect(stop.text).toContain(
    `Running in the background, until /jobs stop ID:\n${first}: sleep 1000\n${second}: sleep 1001`,
  );
  expect(list.text).toBe(`${first}: sleep 1000\n${second}: sleep 1001`);
  expect(stopped.text).toBe(`${first} was stopped.`);
  expect(again.text).toContain("is running");
  expect(JSON.parse(byOperator.stdout)).toMatchObject({ id: second, state: "stopped" });
  expect((await host.cli("jobs", "stop", "job-0")).stderr).toContain("No background job job-0 is running.");
  expect(await told(host)).toEqual([
    expect.stringContaining("stopped by somebody in the chat"),
    expect.stringContaining("stopped by the operator"),
  ]);
});
