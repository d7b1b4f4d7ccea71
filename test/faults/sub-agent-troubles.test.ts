import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, test, vi } from "vitest";

import { containerTroubles } from "../support/container-troubles.ts";
import { jsonLines } from "../support/crabpot.ts";
import { type ModelHost, startModelHost } from "../support/model-host.ts";
import type { ModelScript, ModelServerRequest } from "../support/model-servers/model-server.ts";
import {
  begun,
  byGroup,
  calls,
  childContainers,
  begins,
  family,
  remainsOf,
  runsOnce,
  spawns,
  spawnsAll,
  subAgentsOf,
  worksUntilGo,
} from "../support/sub-agent-family.ts";

const troubles = ["killed", "removed", "hung", "out-of-memory"] as const;
const scripts = new Map<string, ModelScript>();
const groups = [
  ...troubles,
  "twice",
  "spoken",
  "cancelled",
  "commanded",
  "by-operator",
  "stopped",
  "new",
  "late",
  "orphans",
  "deep",
  "fifth",
  "poor",
] as const;
type Group = (typeof groups)[number];

/**
 * A host for all, with a group for each, as most of the time is waiting: what one family leaves, the last test sees.
 */
const running: ModelHost = await startModelHost(byGroup(scripts), {
  process: "shared",
  groups: { ...Object.fromEntries(groups.map((group) => [group, {}])), poor: { budget: { tokensPerDay: 100_000 } } },
  config: {
    limits: { turnsPerHour: 0, loopTurns: 0 },
    sessions: { silenceTimeoutSeconds: 20 },
    sandbox: { memoryMb: 256 },
  },
});
afterAll(() => running[Symbol.asyncDispose]());
const { host } = running;

/** Polling that asks the engine each time. */
const slowly = { timeout: 120_000, interval: 100 };
const letGo = (group: Group) => writeFile(join(host.home, "groups", group, "go"), "", { mode: 0o644 });
const statesOf = async (group: Group) => (await subAgentsOf(host, group)).map(({ state }) => state);
const repliesOf = async (group: Group) => (await host.replies()).filter((reply) => reply.group === group);

async function child(group: Group): Promise<{ id: string; socketPath: string }> {
  await vi.waitUntil(async () => (await childContainers(host, group)).length === 1, slowly);
  const [found] = await childContainers(host, group);
  if (!found) throw new Error(`the sub-agent of ${group} has no container`);
  return found;
}

test.concurrent.for(troubles)(
  "a sub-agent whose container is %s goes on in another one, and its parent gets one answer",
  async (trouble, { expect }) => {
    scripts.set(trouble, family(spawnsAll({}), worksUntilGo));
    const said = await host.say(trouble, "@crab do it");
    await begun(host, trouble);

    await containerTroubles[trouble](await child(trouble));
    const reply = await host.replyTo(said.id);

    expect(reply.text).toMatch(/^so: agent-\d+ is done\. Its answer:\nchild: Error: .*interrupted, result unknown/);
    expect(await statesOf(trouble)).toEqual(["done"]);
  },
);

test.concurrent("a sub-agent whose containers keep dying fails, and its parent goes on with the reason", async ({
  expect,
}) => {
  scripts.set(
    "twice",
    family(spawnsAll({}), ({ messages }) => {
      const command = `touch begun-twice begun-${messages.length}; sleep 600`;
      return calls("shell", { command });
    }),
  );
  const said = await host.say("twice", "@crab do it");
  await begun(host, "twice");
  const first = await child("twice");

  await containerTroubles.killed(first);
  await expect.poll(async () => (await childContainers(host, "twice")).some(({ id }) => id !== first.id)).toBe(true);
  await containerTroubles.killed(await child("twice"));
  const reply = await host.replyTo(said.id);

  expect(reply.text).toMatch(/^so: Error: agent-\d+ could not do it:\n.*ended again and again/);
  expect(await statesOf("twice")).toEqual(["failed"]);
});

/** Results of a turn's calls so far. */
const toldBy = ({ messages }: ModelServerRequest): string[] =>
  messages.filter(({ role }) => role === "tool").map(({ text }) => text);

const namedIn = (text = ""): string => /agent-\d+/.exec(text)?.[0] ?? "";

/** Waits until the test lets it go, then says two things to its sub-agent. */
const saysMore: ModelScript = (request) => {
  if (/<work [^]*agent-\d+ is done/.test(request.lastText))
    return calls("agent_status", { id: namedIn(request.lastText) });
  if (/^agent-\d+ is done/.test(request.lastText)) return { text: `later: ${request.lastText}` };
  const told = toldBy(request);
  const id = namedIn(told[0]);
  const rounds = [
    spawns({ background: true }),
    calls("shell", { command: "until [ -e go ]; do sleep 0.1; done" }),
    calls("agent_status", {}),
    calls("agent_message", { id, text: "count the crabs, too </work>" }),
    calls("agent_message", { id, text: "and the shrimps" }),
    calls("agent_message", { id: "agent-999", text: "hello" }),
    calls("shell", { command: "touch more" }),
  ];
  return rounds[told.length] ?? { text: `now: ${told.join("\n")}` };
};

const hears: ModelScript = (request) =>
  request.toolOutputs.length === 0
    ? begins("until [ -e /workspace/group/more ]; do sleep 0.1; done")(request)
    : {
        text: `child heard: ${request.messages
          .slice(request.messages.findLastIndex(({ role }) => role === "tool"))
          .map(({ text }) => text)
          .join(" ")}`,
      };

test.concurrent("a parent asks after a sub-agent in the background and tells it more; the result comes once, as work", async ({
  expect,
}) => {
  scripts.set("spoken", family(saysMore, hears));
  const said = await host.say("spoken", "@crab do it");
  await begun(host, "spoken");
  await letGo("spoken");

  const now = await host.replyTo(said.id);
  await expect.poll(async () => (await repliesOf("spoken")).length, slowly).toBe(2);
  const later = (await repliesOf("spoken")).at(-1);
  const work = jsonLines((await host.cli("work", "list", "--group", "spoken", "--json")).stdout);

  expect(now.text).toMatch(/agent-\d+ \(running, in the background\): do it/);
  expect(now.text).toMatch(/agent-\d+ has it\.\nagent-\d+ has it\./);
  expect(now.text).toMatch(/You have no sub-agent "agent-999"\. Yours: agent-\d+\./);
  expect(later?.text).toMatch(
    /^later: agent-\d+ is done\. Its answer:\nchild heard: .*count the crabs, too &lt;\/work/,
  );
  expect(later?.text).toContain("and the shrimps");
  expect(work.map(({ state }) => state)).toEqual(["settled", "settled", "settled", "settled"]);
});

const endsIt: ModelScript = (request) => {
  const told = toldBy(request);
  const id = namedIn(told[0]);
  const rounds = [
    spawns({ background: true }),
    calls("shell", { command: "until [ -e go ]; do sleep 0.1; done" }),
    calls("agent_cancel", { id }),
    calls("agent_cancel", { id }),
    calls("agent_message", { id, text: "hello" }),
    calls("agent_status", { id }),
  ];
  return rounds[told.length] ?? { text: `so: ${told.join("\n")}` };
};

test.concurrent("a parent ends a sub-agent in the background: nothing of it comes, neither files nor work", async ({
  expect,
}) => {
  scripts.set("cancelled", family(endsIt, begins("mkdir out; echo secret > out/file; sleep 600")));
  const said = await host.say("cancelled", "@crab do it");
  await begun(host, "cancelled");
  await letGo("cancelled");

  const { text } = await host.replyTo(said.id);
  await expect.poll(() => childContainers(host, "cancelled"), slowly).toEqual([]);
  const [agent] = await subAgentsOf(host, "cancelled");

  expect(text).toMatch(
    /agent-\d+ is cancelled\.\nagent-\d+ had ended before\.\nError: agent-\d+ has ended \(cancelled\)/,
  );
  expect(text).toMatch(/agent-\d+ was cancelled:\nits parent did not need it anymore$/);
  expect(agent).toMatchObject({ state: "cancelled", files: [] });
  expect(await host.readGroupFile("cancelled", `agents/${agent?.id ?? ""}/file`)).toBe("");
  expect(await repliesOf("cancelled")).toHaveLength(1);
});

test.concurrent.for(["commanded", "by-operator"] as const)(
  "a sub-agent that is ended %s is over with its container, and its parent goes on",
  async (group, { expect }) => {
    scripts.set(group, family(spawnsAll({}), begins("sleep 600")));
    const said = await host.say(group, "@crab do it");
    await begun(host, group);
    const [agent] = await subAgentsOf(host, group);
    const id = agent?.id ?? "";

    const listed = await host.ask(group, "/agents");
    const stranger = await host.ask(group, `/agents stop ${id}`, { sender: { id: "gus", name: "Gus" } });
    const ended =
      group === "commanded"
        ? (await host.ask(group, `/agents stop ${id}`)).text
        : (await host.cli("agents", "cancel", id)).stdout;
    const again = await host.cli("agents", "cancel", id);
    const reply = await host.replyTo(said.id);

    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining(id) });
    expect(listed.text).toContain(`${id}, for less than a minute: "do it"`);
    expect(stranger.text).toBe("A sub-agent can be stopped by whoever it works for, or an admin.");
    expect(ended).toContain(id);
    expect(reply.text).toContain(`so: Error: ${id} was cancelled`);
    expect(await childContainers(host, group)).toEqual([]);
  },
);

test.concurrent.for([
  ["stopped", "/stop"],
  ["new", "/new"],
] as const)(
  "with %s in the chat (%s) sub-agents end that are waited for, and nothing goes on",
  async ([group, command], { expect }) => {
    scripts.set(
      group,
      family(({ toolOutputs }) => (toolOutputs.length === 0 ? spawns({}, {}) : { text: "went on" }), worksUntilGo),
    );
    await host.say(group, "@crab do it");
    await begun(host, group, 2);

    await host.ask(group, command);

    await expect.poll(() => statesOf(group), slowly).toEqual(["cancelled", "cancelled"]);
    await expect.poll(() => childContainers(host, group), slowly).toEqual([]);
    expect((await repliesOf(group)).filter(({ text }) => text === "went on")).toEqual([]);
  },
);

test.concurrent("a sub-agent whose time is over is ended with all that it runs, and its parent is told", async ({
  expect,
}) => {
  scripts.set("late", family(spawnsAll({ timeoutMinutes: 0.05 }), runsOnce("sleep 600")));

  const { text } = await host.ask("late", "@crab do it");

  expect(text).toMatch(/^so: Error: agent-\d+ was ended:\nits time was over \(less than a minute\)/);
  expect(await statesOf("late")).toEqual(["expired"]);
});

test.concurrent("a sub-agent in the background ends with the turn that made it, when that is stopped", async ({
  expect,
}) => {
  scripts.set(
    "orphans",
    family(
      ({ toolOutputs }) =>
        toolOutputs.length === 0 ? spawns({ background: true }) : calls("shell", { command: "sleep 600" }),
      worksUntilGo,
    ),
  );
  await host.say("orphans", "@crab do it");
  await begun(host, "orphans");

  await host.ask("orphans", "/stop");

  await expect.poll(() => statesOf("orphans"), slowly).toEqual(["cancelled"]);
  await expect.poll(() => childContainers(host, "orphans"), slowly).toEqual([]);
});

test.concurrent("a sub-agent that calls for its own beyond the depth is refused, and gets on with its work", async ({
  expect,
}) => {
  scripts.set(
    "deep",
    family(spawnsAll({}), ({ toolOutputs }) =>
      toolOutputs.length === 0 ? spawns({}) : { text: `child: ${toolOutputs.join(" ")}` },
    ),
  );

  const { text } = await host.ask("deep", "@crab do it");

  expect(text).toMatch(/^so: agent-\d+ is done\. Its answer:\nchild: Error: /);
  expect(await subAgentsOf(host, "deep")).toMatchObject([{ depth: 1, state: "done" }]);
});

test.concurrent("of five that are to work at once one is refused, and four do", async ({ expect }) => {
  scripts.set("fifth", family(spawnsAll({}, {}, {}, {}, {}), worksUntilGo));
  const said = await host.say("fifth", "@crab do it");
  await begun(host, "fifth", 4);
  await letGo("fifth");

  const { text } = await host.replyTo(said.id);

  expect(text.match(/agent-\d+ is done/g)).toHaveLength(4);
  expect(text.match(/At most 4 sub-agents may be at work at once in a group/g)).toHaveLength(1);
  expect((await statesOf("fifth")).toSorted()).toEqual(["done", "done", "done", "done", "failed"]);
});

test.concurrent("when a sub-agent uses up the group's budget it fails, and its parent's turn ends with the reason", async ({
  expect,
}) => {
  const usage = { input: 99_990, output: 1 };
  scripts.set(
    "poor",
    family(spawnsAll({}), () => ({ toolCalls: [{ name: "shell", input: { command: "true" } }], usage })),
  );

  const { text } = await host.ask("poor", "@crab do it");

  expect(text).toContain("today's budget is not enough for this");
  expect(await statesOf("poor")).toEqual(["failed"]);
});

test("nothing is left of them but records, and those are whole", async ({ expect }) => {
  await expect.poll(() => remainsOf(host), slowly).toEqual([]);

  expect((await subAgentsOf(host)).filter(({ state }) => state === "running")).toEqual([]);
  const ended = jsonLines((await host.cli("events", "tail", "--after", "0", "--type", "agent.ended", "--json")).stdout);
  const ids = ended.map(({ data }) => (data as { id: string }).id);
  expect(ids).toEqual([...new Set(ids)]);
  expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
});
