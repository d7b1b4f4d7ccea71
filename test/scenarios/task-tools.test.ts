import { createHmac, randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { startModelHost, startWithoutContainers } from "../support/model-host.ts";
import type { ModelScript, ScriptedReply } from "../support/model-servers/model-server.ts";

type Call = readonly [name: string, input: object];

function unescaped(text: string): string {
  return text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** Makes the calls that the text asks for, one after another, and says what came of each. */
const obedient: ModelScript = ({ messages }): ScriptedReply => {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const [, list] = /calls (\[\[.*\]\])/s.exec(unescaped(messages[asked]?.text ?? "")) ?? [];
  const calls = JSON.parse(list ?? "[]") as Call[];
  const outputs = messages.slice(asked + 1).filter(({ role }) => role === "tool");
  const call = calls[outputs.length];
  if (!call) return { text: outputs.map(({ text }) => text).join("\n---\n") || "nothing to call" };
  return { toolCalls: [{ name: call[0], input: call[1] }] };
};

async function askFor(host: TestHost, sender: string, ...calls: readonly Call[]): Promise<string[]> {
  const from = { sender: { id: sender, name: sender } };
  return (await host.ask("family", `@crab calls ${JSON.stringify(calls)}`, from)).text.split("\n---\n");
}

async function lines(host: TestHost, ...args: readonly string[]): Promise<Record<string, unknown>[]> {
  return jsonLines((await host.cli(...args, "--json")).stdout);
}

const tasksOf = (host: TestHost) => lines(host, "tasks", "list");

async function records(host: TestHost): Promise<unknown[]> {
  const all = jsonLines((await host.cli("audit", "export")).stdout);
  return all.filter(({ type }) => type === "schedule").map(({ data }) => (data as { action: string }).action);
}

test("an agent makes, lists, changes, pauses, runs and removes a task; each is on record, and runs are counted", async () => {
  await using running = await startWithoutContainers(obedient);
  const { host } = running;
  const [scheduled = ""] = await askFor(host, "ann", [
    "schedule_task",
    { prompt: "look", cron: "0 9 * * 1-5", name: "morning", timezone: "Europe/Paris" },
  ]);
  const id = /t[0-9a-f]{8}/.exec(scheduled)?.[0] ?? "";

  const told = await askFor(
    host,
    "ann",
    ["list_tasks", {}],
    ["update_task", { id, prompt: "look twice", every: "2h" }],
    ["update_task", { id, paused: true }],
    ["update_task", { id, paused: false, name: "noon" }],
    ["update_task", { id }],
    ["update_task", { id, cron: "61 * * * *" }],
    ["run_task", { id }],
  );
  await expect.poll(() => lines(host, "tasks", "history", id)).toMatchObject([{ state: "done" }]);
  const before = await tasksOf(host);
  const removed = await askFor(host, "ann", ["cancel_task", { id }], ["cancel_task", { id }], ["list_tasks", {}]);

  expect(told[0]).toContain(`${id} "morning" of family: cron 0 9 * * 1-5 Europe/Paris, isolated, active, next `);
  expect(told[0]).toContain('\n  "look"');
  expect(told[1]).toMatch(/^Changed: .*every 120 minutes/);
  expect(told[2]).toContain("paused (somebody paused it)");
  expect(told[3]).toMatch(/"noon".*active, next /);
  expect(told[4]).toContain(`Nothing was said that task ${id} is to be changed to.`);
  expect(told[5]).toContain('The cron pattern "61 * * * *" cannot be read');
  expect(told[6]).toContain(`Task ${id} runs`);
  expect(before).toMatchObject([{ id, group: "family", name: "noon", prompt: "look twice", state: "active" }]);
  expect(Object.keys(before[0] ?? {})).toEqual(
    expect.arrayContaining(["id", "group", "name", "prompt", "next", "state", "lastRun"]),
  );
  expect(removed).toEqual([
    `Removed: ${id}.`,
    expect.stringContaining(`There is no task "${id}"`),
    "There are no tasks.",
  ]);
  expect(await records(host)).toEqual(["made", "changed", "paused", "resumed", "changed", "ended", "removed"]);
  const metrics = await (await host.get("/metrics")).text();
  expect(metrics).toContain('crabpot_task_runs_total{outcome="claimed"} 1');
  expect(metrics).toContain('crabpot_task_runs_total{outcome="done"} 1');
});

test("a group lives by clocks of its own: what the agent is told, when tasks are due, what people are shown", async () => {
  await using running = await startWithoutContainers(obedient, {
    groups: { family: { timezone: "Asia/Tokyo" }, others: {} },
    config: { timezone: "Europe/Paris" },
  });
  const { host, model } = running;

  await askFor(host, "ann", ["schedule_task", { prompt: "look", cron: "0 9 * * *" }]);
  await host.cli("tasks", "add", "--group", "others", "--prompt", "look", "--cron", "0 9 * * *");
  const shown = await host.ask("family", "/tasks");
  await host.ask("others", "@crab hello");

  const [own, shared] = await tasksOf(host);
  expect(own).toMatchObject({ group: "family", timezone: "Asia/Tokyo" });
  expect(new Date(String(own?.["next"])).getUTCHours()).toBe(0);
  expect(shared).toMatchObject({ group: "others", timezone: "Europe/Paris" });
  expect(shown.text).toMatch(/next \d{4}-\d\d-\d\d 09:00 Asia\/Tokyo/);
  expect(model.requests[0]?.system).toContain("Times are in the time zone Asia/Tokyo.");
  expect(model.requests.at(-1)?.system).toContain("Times are in the time zone Europe/Paris.");
});

test("a task's turn can neither run tasks nor schedule for the same minute, and sub-agents have no tasks at all", async () => {
  await using running = await startWithoutContainers(obedient);
  const { host, model } = running;
  const now = new Date().toISOString();
  await askFor(host, "ann", ["schedule_task", { prompt: "look", every: "1d" }]);
  const [other] = await tasksOf(host);
  const inner: readonly Call[] = [
    ["schedule_task", { prompt: "again", at: now }],
    ["schedule_task", { prompt: "later", at: new Date(Date.now() + 3_600_000).toISOString() }],
    ["run_task", { id: other?.["id"] }],
    ["spawn_agent", { task: "be there" }],
  ];

  await askFor(host, "ann", ["schedule_task", { prompt: `calls ${JSON.stringify(inner)}`, at: now }]);

  const answer = async () => (await host.replies()).at(-1)?.text.split("\n---\n") ?? [];
  await expect.poll(answer, { timeout: 60_000 }).toHaveLength(4);
  const told = await answer();
  expect(told[0]).toContain("Nobody has asked in this turn, so what it schedules is due in a minute at the earliest.");
  expect(told[1]).toContain("Scheduled: t");
  expect((await tasksOf(host)).map(({ prompt }) => prompt)).toContain("later");
  expect(told[2]).toMatch(/Task t\w+ is not run at once, because nobody has asked in this turn/);
  const offered = model.requests.map(({ system, tools }) => ({
    isSubAgent: system.includes("You are a sub-agent of"),
    count: tools.filter((name) => /_tasks?$/.test(name)).length,
  }));
  expect(offered.filter(({ isSubAgent }) => isSubAgent).map(({ count }) => count)).toEqual([0]);
  expect(new Set(offered.filter(({ isSubAgent }) => !isSubAgent).map(({ count }) => count))).toEqual(new Set([5]));
});

test("a task has the role that its maker has by now, and keeps what its maker's turn had read", async () => {
  const secret = "hook-secret-5b1f0c";
  const group = {
    channel: "http",
    chat: "family",
    policy: { tools: { shell: "allow" }, rules: [{ tool: "shell", role: "<member", action: "deny" }] },
  };
  const hooks = { calls: { group: "family", secret, role: "member" } };
  await using running = await startModelHost(obedient, {
    groups: { family: { ...group, members: { default: "member" } } },
    config: { hooks },
  });
  const { host } = running;
  const shell = `calls ${JSON.stringify([["shell", { command: "echo it-ran" }]])}`;
  await askFor(host, "ann", ["schedule_task", { prompt: shell, every: "1h", name: "of ann" }]);
  const [made] = await tasksOf(host);
  const run = async () => {
    const known = (await host.replies()).length;
    await host.cli("tasks", "run", String(made?.["id"]));
    await expect.poll(async () => (await host.replies()).length, { timeout: 60_000 }).toBe(known + 1);
    return (await host.replies()).at(-1)?.text;
  };

  const asMember = await run();
  await host.changeConfig({ groups: { family: { ...group, members: { default: "member", "http:ann": "guest" } } } });
  await expect
    .poll(async () => (await lines(host, "people", "list", "--group", "family")).map(({ role }) => role))
    .toContain("guest");
  const asGuest = await run();
  const body = `calls ${JSON.stringify([["schedule_task", { prompt: "look", every: "1h", name: "of a hook" }]])}`;
  await fetch(`${host.url}/v1/hooks/calls`, {
    method: "POST",
    body,
    headers: {
      "x-crabpot-signature": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
      "x-crabpot-delivery": randomUUID(),
    },
  });
  await expect.poll(async () => (await tasksOf(host)).length, { timeout: 60_000 }).toBe(2);
  const hooked = (await tasksOf(host))[1];
  await host.cli("tasks", "run", String(hooked?.["id"]));
  await expect
    .poll(() => lines(host, "tasks", "history", String(hooked?.["id"])), { timeout: 60_000 })
    .toMatchObject([{ state: "done" }]);

  expect(asMember).toContain("it-ran");
  expect(asGuest).not.toContain("it-ran");
  expect(hooked).toMatchObject({ role: "member" });
  const [turn] = await lines(host, "tasks", "history", String(hooked?.["id"]));
  const [shown] = await lines(host, "turns", "show", String(turn?.["turn"]));
  expect(shown?.["origins"]).toContain("web");
});
