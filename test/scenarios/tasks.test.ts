import { expect, test } from "vitest";

import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import { jsonLines } from "../support/crabpot.ts";
import { surroundings } from "../support/engine.ts";
import type { TestHost } from "../support/host.ts";
import { interruptibleEngine } from "../support/interruptible-engine.ts";
import { clockAheadVariable } from "../support/host-options.ts";
import { startModelHost, startWithoutContainers } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { shareModelHost } from "../support/shared-host.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readStatus } from "../../src/operations/host/operations.ts";
import { listSessions } from "../../src/operations/sessions/operations.ts";
import { listTasks, taskHistory } from "../../src/abilities/tasks/operations.ts";

const settings = { members: { "http:ann": "admin" } } as const;

const hosts = shareModelHost({
  process: "shared",
  groups: { scheduling: {}, greedy: {}, remote: {} },
  config: settings,
  withoutContainers: ["greedy", "remote"],
});

/** Tasks as shown to the operator. */
async function seen(host: TestHost): Promise<Record<string, unknown>[]> {
  return jsonLines((await host.cli("tasks", "list", "--json")).stdout);
}

async function repliesOf(host: TestHost): Promise<string[]> {
  return (await host.replies()).map(({ text }) => text);
}

function unescaped(text: string): string {
  return text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">");
}

/** Does what it is told by the work that it is given, or schedules what it is asked for. */
const model: ModelScript = ({ lastText, toolOutputs, messages }) => {
  const told = /<work [^>]*>(.*)<\/work>/s.exec(lastText)?.[1];
  if (told === "say nothing") return { text: "NO_REPLY" };
  if (told !== undefined) return { text: `${messages.filter(({ role }) => role === "user").length}: ${told}` };
  if (toolOutputs.length > 0) return { text: toolOutputs.at(-1) ?? "" };
  const asked = /schedule (\{.*\})/.exec(unescaped(lastText))?.[1];
  return asked === undefined ? { text: "hello" } : { toolCalls: [{ name: "schedule_task", input: JSON.parse(asked) }] };
};

test("an agent schedules what it is asked for; the run has its own conversation, which is put aside when it has answered", async () => {
  const { host } = hosts.running;
  const group = hosts.group("scheduling", model);
  const at = new Date(Date.now() + 1_000).toISOString();

  const answer = await group.ask(`@crab schedule {"prompt":"water </work> the plants","at":"${at}","name":"plants"}`);

  expect(answer.text).toContain("Scheduled: t");
  await expect
    .poll(async () => (await group.replies()).map(({ text }) => text))
    .toContain("1: water &lt;/work&gt; the plants");
  await expect
    .poll(() => host.control.call(listTasks, { group: "scheduling" }))
    .toMatchObject([
      {
        group: "scheduling",
        name: "plants",
        state: "done",
        role: "admin",
        people: ["http:ann"],
        lastRun: { state: "done" },
      },
    ]);
  const [task] = await host.control.call(listTasks, { group: "scheduling" });
  expect(task?.next ?? null).toBeNull();
  const sessions = async () =>
    (await host.control.call(listSessions, {})).filter(({ group: name }) => name === "scheduling");
  await expect.poll(async () => (await sessions()).map(({ kind }) => kind)).toEqual(["main"]);
  await expect.poll(() => host.containers()).toHaveLength(1);
});

test("the operator adds, runs, pauses, resumes and removes tasks; an agent with nothing to say says nothing", async () => {
  await using running = await startWithoutContainers(model, { config: settings });
  const { host } = running;
  const add = (...more: string[]) => host.cli("tasks", "add", "--group", "family", "--json", ...more);
  const [quiet] = jsonLines((await add("--prompt", "say nothing", "--every", "1h", "--name", "quiet")).stdout);
  const [loud] = jsonLines((await add("--prompt", "say hello", "--cron", "0 9 * * *", "--mode", "group")).stdout);
  const wrong = await add("--prompt", "x", "--cron", "not a cron");
  const unknown = await host.cli("tasks", "add", "--group", "nobody", "--prompt", "x", "--every", "1h");

  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.stderr).toContain('"not a cron" cannot be read');
  expect(unknown.stderr).toContain('There is no group "nobody"');
  await host.cli("tasks", "run", String(quiet?.["id"]));
  const history = () => host.control.call(taskHistory, { id: String(quiet?.["id"]), limit: 10 });
  await expect.poll(history).toMatchObject([{ state: "done", attempts: 1 }]);
  const { stdout } = await host.cli("tasks", "history", String(quiet?.["id"]), "--json");
  expect(jsonLines(stdout)).toMatchObject([{ state: "done", attempts: 1 }]);
  await host.cli("tasks", "run", String(loud?.["id"]));
  await expect.poll(() => repliesOf(host)).toEqual(["1: say hello"]);
  const [silent] = jsonLines((await host.cli("turns", "show", String((await history())[0]?.turn), "--json")).stdout);
  expect(silent).toMatchObject({ silent: true });

  expect((await host.cli("tasks", "pause", String(loud?.["id"]))).stdout).toContain("is paused");
  expect((await seen(host))[1]).toMatchObject({ state: "paused", next: null });
  expect((await host.cli("status")).stdout).toMatch(/tasks +1 scheduled, 1 paused/);
  expect((await host.cli("doctor")).stdout).toContain("It has 1 paused task.");
  const listed = await host.ask("family", "/tasks");
  expect(listed.text).toContain(`${String(quiet?.["id"])} "quiet": next `);
  expect((await host.ask("family", `/tasks resume ${String(loud?.["id"])}`)).text).toContain("goes on");
  expect((await seen(host))[1]).toMatchObject({ state: "active" });
  await host.cli("tasks", "remove", String(quiet?.["id"]));
  expect(await seen(host)).toHaveLength(1);
});

test("a task that came due while the host was killed is run once", async () => {
  await using running = await startWithoutContainers(model, { config: settings });
  const { host } = running;
  const at = new Date(Date.now() + 3_600_000).toISOString();
  await host.cli("tasks", "add", "--group", "family", "--prompt", "once", "--at", at);
  await host.end("SIGKILL");
  const later = { [clockAheadVariable]: String(2 * 3_600_000) };

  await host.boot(later);

  await expect.poll(() => repliesOf(host)).toEqual(["1: once"]);
  await host.end("SIGKILL");
  await host.boot(later);
  await expect
    .poll(() => host.control.call(listTasks, { group: "family" }))
    .toMatchObject([{ state: "done", lastRun: { state: "done", attempts: 1 } }]);
  expect(await repliesOf(host)).toEqual(["1: once"]);
});

test("a task that comes due while the engine is away, and the host is killed meanwhile, is run once when the engine is back", async () => {
  await using folder = await temporaryFolder();
  await using engine = await openEngine(surroundings);
  const { address } = await engine.facts();
  await using way = await interruptibleEngine(folder.path, address.replace("unix://", ""));
  await using running = await startModelHost(model, { config: settings, variables: { DOCKER_HOST: way.url } });
  const { host } = running;
  const tasksOf = () => host.control.call(listTasks, { group: "family" });
  await way.stop();

  const at = new Date(Date.now() + 1_000).toISOString();
  await host.cli("tasks", "add", "--group", "family", "--prompt", "look", "--at", at);
  await expect.poll(tasksOf).toMatchObject([{ lastRun: { state: "running" } }]);
  await host.end("SIGKILL");
  host.launch();
  await expect
    .poll(() =>
      host.control.call(readStatus, {}).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  const early = await tasksOf();
  await way.start();

  await expect.poll(() => repliesOf(host)).toEqual(["1: look"]);
  await expect.poll(tasksOf).toMatchObject([{ state: "done", lastRun: { state: "done" } }]);
  expect(early).toMatchObject([{ lastRun: { state: "running" } }]);
  expect(await repliesOf(host)).toHaveLength(1);
}, 300_000);

test("an agent cannot schedule for another group, and not without end", async () => {
  const every = { prompt: "again", every: "1m" };
  const group = hosts.group("greedy", ({ toolOutputs }) =>
    toolOutputs.length > 0
      ? { text: toolOutputs.join("\n") }
      : {
          toolCalls: [
            { name: "schedule_task", input: { ...every, group: "main" } },
            ...Array.from({ length: 12 }, () => ({ name: "schedule_task", input: every })),
          ],
        },
  );

  const answer = await group.ask("@crab go");

  expect(answer.text).toContain("Only an admin of a main group may name another group");
  expect(answer.text.match(/At most 10 tasks can be made in one turn/g)).toHaveLength(2);
  const made = (await group.host.control.call(listTasks, {})).filter(({ prompt }) => prompt === every.prompt);
  expect(made.map(({ group: name }) => name)).toEqual(Array.from({ length: 10 }, () => "greedy"));
});

test("a program makes and lists tasks over HTTP, with the token", async () => {
  const { host } = hosts.running;
  const post = (body: object, authorization = "Bearer test-token-0123456789") =>
    fetch(`${host.url}/v1/tasks`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const wanted = { group: "remote", prompt: "look", every: "2h", missed: "latest" };

  const made = await post(wanted);
  const wrong = await post({ ...wanted, every: "abc" });
  const unknown = await post({ ...wanted, colour: "red" });
  const stranger = await post(wanted, "Bearer nothing");

  expect([made.status, wrong.status, unknown.status, stranger.status]).toEqual([201, 400, 400, 401]);
  expect(await wrong.json()).toMatchObject({ error: { code: "bad_input" } });
  const { tasks } = (await (await host.get("/v1/tasks?group=remote")).json()) as { tasks: object[] };
  expect(tasks).toMatchObject([{ group: "remote", prompt: "look", every: "2h", missed: "latest", state: "active" }]);
});
