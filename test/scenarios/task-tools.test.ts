import { createHmac, randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { recordsOf } from "../support/host-records.ts";
import type { ModelScript, ScriptedReply } from "../support/model-servers/model-server.ts";
import { shareModelHost, type TestGroup } from "../support/shared-host.ts";
import { listPeople } from "../../src/operations/people/operations.ts";
import { editSettings } from "../../src/operations/settings/operations.ts";
import { listTasks, runTask, taskHistory } from "../../src/abilities/tasks/operations.ts";
import { showTurn } from "../../src/operations/turns/operations.ts";

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

async function askFor(group: TestGroup, sender: string, ...calls: readonly Call[]): Promise<string[]> {
  const from = { sender: { id: sender, name: sender } };
  return (await group.ask(`@crab calls ${JSON.stringify(calls)}`, from)).text.split("\n---\n");
}

async function lines(host: TestHost, ...args: readonly string[]): Promise<Record<string, unknown>[]> {
  return jsonLines((await host.cli(...args, "--json")).stdout);
}

const secret = "hook-secret-5b1f0c";
const ruled = { tools: { shell: "allow" }, rules: [{ tool: "shell", role: "<member", action: "deny" }] };

const hosts = shareModelHost({
  process: "shared",
  groups: {
    managing: {},
    tokyo: { timezone: "Asia/Tokyo" },
    paris: {},
    minute: {},
    roles: { policy: ruled, members: { default: "member" } },
  },
  config: { timezone: "Europe/Paris", hooks: { calls: { group: "roles", secret, role: "member" } } },
  withoutContainers: ["managing", "tokyo", "paris", "minute"],
});

function tasksOf({ name, host }: TestGroup) {
  return host.control.call(listTasks, { group: name });
}

async function records({ name, host }: TestGroup): Promise<unknown[]> {
  return (await recordsOf(host, "schedule", name)).map(({ data }) => data["action"]);
}

/** Number of runs with this outcome. */
async function runsOf(host: TestHost, outcome: string): Promise<number> {
  const metrics = await (await host.get("/metrics")).text();
  return Number(new RegExp(`crabpot_task_runs_total\\{outcome="${outcome}"\\} (\\d+)`).exec(metrics)?.[1] ?? 0);
}

test("an agent makes, lists, changes, pauses, runs and removes a task; each is on record, and runs are counted", async () => {
  const group = hosts.group("managing", obedient);
  const { host } = group;
  const counted = async () => [await runsOf(host, "claimed"), await runsOf(host, "done")];
  const [claimed = 0, done = 0] = await counted();
  const [scheduled = ""] = await askFor(group, "ann", [
    "schedule_task",
    { prompt: "look", cron: "0 9 * * 1-5", name: "morning", timezone: "Europe/Paris" },
  ]);
  const id = /t[0-9a-f]{12}/.exec(scheduled)?.[0] ?? "";

  const told = await askFor(
    group,
    "ann",
    ["list_tasks", {}],
    ["update_task", { id, prompt: "look twice", every: "2h" }],
    ["update_task", { id, paused: true }],
    ["update_task", { id, paused: false, name: "noon" }],
    ["update_task", { id }],
    ["update_task", { id, cron: "61 * * * *" }],
    ["run_task", { id }],
  );
  await expect.poll(() => host.control.call(taskHistory, { id, limit: 10 })).toMatchObject([{ state: "done" }]);
  const before = (await lines(host, "tasks", "list")).filter((task) => task["group"] === "managing");
  const removed = await askFor(group, "ann", ["cancel_task", { id }], ["cancel_task", { id }], ["list_tasks", {}]);

  expect(told[0]).toContain(`${id} "morning" of managing: cron 0 9 * * 1-5 Europe/Paris, isolated, active, next `);
  expect(told[0]).toContain('\n  <prompt>"look"</prompt>');
  expect(told[1]).toMatch(/^Changed: .*every 120 minutes/);
  expect(told[2]).toContain("paused (somebody paused it)");
  expect(told[3]).toMatch(/"noon".*active, next /);
  expect(told[4]).toContain(`Nothing was said that task ${id} is to be changed to.`);
  expect(told[5]).toContain('The cron pattern "61 * * * *" cannot be read');
  expect(told[6]).toContain(`Task ${id} runs`);
  expect(before).toMatchObject([{ id, group: "managing", name: "noon", prompt: "look twice", state: "active" }]);
  expect(Object.keys(before[0] ?? {})).toEqual(
    expect.arrayContaining(["id", "group", "name", "prompt", "next", "state", "lastRun"]),
  );
  expect(removed).toEqual([
    `Removed: ${id}.`,
    expect.stringContaining(`There is no task "${id}"`),
    "There are no tasks.",
  ]);
  expect(await records(group)).toEqual(["made", "changed", "paused", "resumed", "changed", "ended", "removed"]);
  expect(await counted()).toEqual([claimed + 1, done + 1]);
});

test("a group lives by its own clocks: what the agent is told, when tasks are due, what people are shown", async () => {
  const [tokyo, paris] = [hosts.group("tokyo", obedient), hosts.group("paris", obedient)];
  const { host } = tokyo;

  await askFor(tokyo, "ann", ["schedule_task", { prompt: "look", cron: "0 9 * * *" }]);
  await host.cli("tasks", "add", "--group", "paris", "--prompt", "look", "--cron", "0 9 * * *");
  const shown = await tokyo.ask("/tasks");
  await paris.ask("@crab hello");

  const [[own], [shared]] = [await tasksOf(tokyo), await tasksOf(paris)];
  expect(own).toMatchObject({ group: "tokyo", timezone: "Asia/Tokyo" });
  expect(new Date(own?.next ?? 0).getUTCHours()).toBe(0);
  expect(shared).toMatchObject({ group: "paris", timezone: "Europe/Paris" });
  expect(shown.text).toMatch(/next \d{4}-\d\d-\d\d 09:00 Asia\/Tokyo/);
  expect(tokyo.requests[0]?.system).toContain("Times are in the time zone Asia/Tokyo.");
  expect(paris.requests.at(-1)?.system).toContain("Times are in the time zone Europe/Paris.");
});

test("a task's turn can neither run tasks nor schedule for the same minute, and sub-agents have no tasks at all", async () => {
  const group = hosts.group("minute", obedient);
  const now = new Date().toISOString();
  await askFor(group, "ann", ["schedule_task", { prompt: "look", every: "1d" }]);
  const [other] = await tasksOf(group);
  const inner: readonly Call[] = [
    ["schedule_task", { prompt: "again", at: now }],
    ["schedule_task", { prompt: "later", at: new Date(Date.now() + 3_600_000).toISOString() }],
    ["run_task", { id: other?.id }],
    ["spawn_agent", { task: "be there" }],
  ];

  await askFor(group, "ann", ["schedule_task", { prompt: `calls ${JSON.stringify(inner)}`, at: now }]);

  const answer = async () => (await group.replies()).at(-1)?.text.split("\n---\n") ?? [];
  await expect.poll(answer).toHaveLength(4);
  const told = await answer();
  expect(told[0]).toContain("Nobody has asked in this turn, so what it schedules is due in a minute at the earliest.");
  expect(told[1]).toContain("Scheduled: t");
  expect((await tasksOf(group)).map(({ prompt }) => prompt)).toContain("later");
  expect(told[2]).toMatch(/Task t\w+ is not run at once, because nobody has asked in this turn/);
  const offered = group.requests.map(({ system, tools }) => ({
    isSubAgent: system.includes("You are a sub-agent of"),
    count: tools.filter((name) => /_tasks?$/.test(name)).length,
  }));
  expect(offered.filter(({ isSubAgent }) => isSubAgent).map(({ count }) => count)).toEqual([0]);
  expect(new Set(offered.filter(({ isSubAgent }) => !isSubAgent).map(({ count }) => count))).toEqual(new Set([5]));
});

test("a task has the role that its maker has by now, and keeps what its maker's turn had read", async () => {
  const group = hosts.group("roles", obedient);
  const { host } = group;
  const shell = `calls ${JSON.stringify([["shell", { command: "echo it-ran" }]])}`;
  await askFor(group, "ann", ["schedule_task", { prompt: shell, every: "1h", name: "of ann" }]);
  const [made] = await tasksOf(group);
  const run = async () => {
    const known = (await group.replies()).length;
    await host.cli("tasks", "run", String(made?.id));
    await expect.poll(async () => (await group.replies()).length).toBe(known + 1);
    return (await group.replies()).at(-1)?.text;
  };

  const asMember = await run();
  const demoted = { path: ["groups", "roles", "members"], value: { default: "member", "http:ann": "guest" } };
  await host.control.call(editSettings, { edits: [demoted] });
  expect((await host.control.call(listPeople, { group: "roles" })).map(({ role }) => role)).toContain("guest");
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
  await expect.poll(async () => (await tasksOf(group)).length).toBe(2);
  const hooked = (await tasksOf(group))[1];
  await host.control.call(runTask, { id: String(hooked?.id) });
  await expect
    .poll(() => host.control.call(taskHistory, { id: String(hooked?.id), limit: 10 }))
    .toMatchObject([{ state: "done" }]);

  expect(asMember).toContain("it-ran");
  expect(asGuest).not.toContain("it-ran");
  expect(hooked).toMatchObject({ role: "member" });
  const [turn] = await host.control.call(taskHistory, { id: String(hooked?.id), limit: 10 });
  const { origins } = await host.control.call(showTurn, { id: String(turn?.turn), maxChars: 100 });
  expect(origins).toContain("web");
});
