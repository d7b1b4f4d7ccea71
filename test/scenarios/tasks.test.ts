import { expect, test } from "vitest";

import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import { jsonLines } from "../support/crabpot.ts";
import { surroundings } from "../support/engine.ts";
import type { TestHost } from "../support/host.ts";
import { interruptibleEngine } from "../support/interruptible-engine.ts";
import { startModelHost, startWithoutContainers } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const settings = { members: { "http:ann": "admin" } } as const;

async function tasksOf(host: TestHost): Promise<Record<string, unknown>[]> {
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

test("an agent schedules what it is asked for; the run has a conversation of its own, which is put aside when it has answered", async () => {
  await using running = await startModelHost(model, { config: settings });
  const { host } = running;
  const at = new Date(Date.now() + 4_000).toISOString();

  const answer = await host.ask(
    "family",
    `@crab schedule {"prompt":"water </work> the plants","at":"${at}","name":"plants"}`,
  );

  expect(answer.text).toContain("Scheduled: t");
  await expect.poll(() => repliesOf(host)).toContain("1: water &lt;/work&gt; the plants");
  await expect
    .poll(() => tasksOf(host))
    .toMatchObject([
      {
        group: "family",
        name: "plants",
        state: "done",
        next: null,
        role: "admin",
        requester: "http:ann",
        lastRun: { state: "done" },
      },
    ]);
  const sessions = async () => jsonLines((await host.cli("sessions", "list", "--json")).stdout);
  await expect.poll(async () => (await sessions()).map(({ kind }) => kind)).toEqual(["main"]);
  await expect.poll(() => host.containers()).toHaveLength(1);
});

test("the operator adds, runs, pauses, resumes and removes tasks; an agent with nothing to say says nothing", async () => {
  await using running = await startModelHost(model, { config: settings });
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
  const history = async () => jsonLines((await host.cli("tasks", "history", String(quiet?.["id"]), "--json")).stdout);
  await expect.poll(history).toMatchObject([{ state: "done", attempts: 1 }]);
  await host.cli("tasks", "run", String(loud?.["id"]));
  await expect.poll(() => repliesOf(host)).toEqual(["1: say hello"]);
  const [silent] = jsonLines(
    (await host.cli("turns", "show", String((await history())[0]?.["turn"]), "--json")).stdout,
  );
  expect(silent).toMatchObject({ silent: true });

  expect((await host.cli("tasks", "pause", String(loud?.["id"]))).stdout).toContain("is paused");
  expect((await tasksOf(host))[1]).toMatchObject({ state: "paused", next: null });
  expect((await host.cli("status")).stdout).toMatch(/tasks +1 scheduled, 1 paused/);
  expect((await host.cli("doctor")).stdout).toContain("It has 1 paused task.");
  const listed = await host.ask("family", "/tasks");
  expect(listed.text).toContain(`${String(quiet?.["id"])} "quiet": next `);
  expect((await host.ask("family", `/tasks resume ${String(loud?.["id"])}`)).text).toContain("goes on");
  expect((await tasksOf(host))[1]).toMatchObject({ state: "active" });
  await host.cli("tasks", "remove", String(quiet?.["id"]));
  expect(await tasksOf(host)).toHaveLength(1);
});

test("a task that came due while the host was killed is run once", async () => {
  await using running = await startWithoutContainers(model, { config: settings });
  const { host } = running;
  const at = new Date(Date.now() + 3_000).toISOString();
  await host.cli("tasks", "add", "--group", "family", "--prompt", "once", "--at", at);
  await host.end("SIGKILL");
  await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(at));

  await host.boot();

  await expect.poll(() => repliesOf(host)).toEqual(["1: once"]);
  await host.end("SIGKILL");
  await host.boot();
  await expect.poll(() => tasksOf(host)).toMatchObject([{ state: "done", lastRun: { state: "done", attempts: 1 } }]);
  expect(await repliesOf(host)).toEqual(["1: once"]);
});

test("a task that comes due while the engine is away, and the host is killed meanwhile, is run once when the engine is back", async () => {
  await using folder = await temporaryFolder();
  await using engine = await openEngine(surroundings);
  const { address } = await engine.facts();
  await using way = await interruptibleEngine(folder.path, address.replace("unix://", ""));
  await using running = await startModelHost(model, { config: settings, variables: { DOCKER_HOST: way.url } });
  const { host } = running;
  await way.stop();

  const at = new Date(Date.now() + 2_000).toISOString();
  await host.cli("tasks", "add", "--group", "family", "--prompt", "look", "--at", at);
  await expect.poll(() => tasksOf(host)).toMatchObject([{ lastRun: { state: "running" } }]);
  await host.end("SIGKILL");
  host.launch();
  await expect.poll(async () => (await host.cli("status")).code, { timeout: 60_000 }).toBe(0);
  const early = await tasksOf(host);
  await way.start();

  await expect.poll(() => repliesOf(host), { timeout: 120_000 }).toEqual(["1: look"]);
  await expect.poll(() => tasksOf(host)).toMatchObject([{ state: "done", lastRun: { state: "done" } }]);
  expect(early).toMatchObject([{ lastRun: { state: "running" } }]);
  expect(await repliesOf(host)).toHaveLength(1);
}, 300_000);

test("an agent cannot schedule for another group, and not without end", async () => {
  const every = { prompt: "again", every: "1m" };
  await using running = await startWithoutContainers(({ toolOutputs }) =>
    toolOutputs.length > 0
      ? { text: toolOutputs.join("\n") }
      : {
          toolCalls: [
            { name: "schedule_task", input: { ...every, group: "main" } },
            ...Array.from({ length: 12 }, () => ({ name: "schedule_task", input: every })),
          ],
        },
  );
  const { host } = running;

  const answer = await host.ask("family", "@crab go");

  expect(answer.text).toContain("Only a main group may name another group");
  expect(answer.text.match(/At most 10 tasks may be made in one turn/g)).toHaveLength(2);
  expect((await tasksOf(host)).map(({ group }) => group)).toEqual(Array.from({ length: 10 }, () => "family"));
});

test("a program makes and lists tasks over HTTP, with the token", async () => {
  await using running = await startWithoutContainers(model);
  const { host } = running;
  const post = (body: object, authorization = "Bearer test-token-0123456789") =>
    fetch(`${host.url}/v1/tasks`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const wanted = { group: "family", prompt: "look", every: "2h", missed: "latest" };

  const made = await post(wanted);
  const wrong = await post({ ...wanted, every: "abc" });
  const unknown = await post({ ...wanted, colour: "red" });
  const stranger = await post(wanted, "Bearer nothing");

  expect([made.status, wrong.status, unknown.status, stranger.status]).toEqual([201, 400, 400, 401]);
  expect(await wrong.json()).toMatchObject({ error: { code: "bad_input" } });
  const { tasks } = (await (await host.get("/v1/tasks?group=family")).json()) as { tasks: object[] };
  expect(tasks).toMatchObject([{ group: "family", prompt: "look", every: "2h", missed: "latest", state: "active" }]);
});
