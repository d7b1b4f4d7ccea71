import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";
import { parse } from "yaml";

import { recordsOf } from "../support/host-records.ts";
import { runsInOrder, startModelHost } from "../support/model-host.ts";
import type { ModelScript, ModelServerRequest } from "../support/model-servers/model-server.ts";
import { keepRunning, restart } from "../support/restarts.ts";
import { shareModelHost, type TestGroup } from "../support/shared-host.ts";

const fixtures = resolve(import.meta.dirname, "../fixtures");
const diceHost = join(fixtures, "guides/dice-host.ts");
const troubledHost = join(fixtures, "tools/troubled-host.ts");

/** A model that makes these calls, one per answer, and then says what came of them. */
function callsInOrder(...calls: readonly { name: string; input: unknown }[]): ModelScript {
  return ({ messages }) => {
    const done = messages
      .slice(messages.findLastIndex(({ role }) => role === "user"))
      .filter(({ role }) => role === "tool");
    const call = calls[done.length];
    return call ? { toolCalls: [call] } : { text: done.map(({ text }) => text).join("\n") };
  };
}

/** A model that makes one call for ever, until somebody says that it is enough. */
const stubborn: ModelScript = ({ messages }) => {
  const [asked] = messages.filter(({ role }) => role === "user").slice(-1);
  if (asked?.text.includes("enough")) return { text: "fine" };
  return { toolCalls: [{ name: "shell", input: { command: "echo x" } }] };
};

async function limitsOf({ name, host }: TestGroup): Promise<unknown[]> {
  return (await recordsOf(host, "limit-hit", name)).map(({ data }) => data);
}

const troubled = shareModelHost({ groups: { faulty: {}, hanging: {} }, program: troubledHost });
keepRunning(() => troubled.running);

const hosts = shareModelHost({
  withoutContainers: "all",
  shellHere: true,
  groups: {
    kept: { policy: { tools: { react: "deny" } } },
    steps: { limits: { maxSteps: 3 } },
    stuck: {},
  },
});
keepRunning(() => hosts.running);

const toolsIn = ({ body }: ModelServerRequest): string => JSON.stringify((body as { tools?: unknown }).tools);

test("a tool from outside is offered, called with the real agent in between, and its result reaches the model", async () => {
  const script = callsInOrder(
    { name: "roll_dice", input: { dice: 3 } },
    { name: "roll_dice", input: { dice: "three" } },
    { name: "roll_dice", input: { dice: 20, sides: 100 } },
  );
  await using running = await startModelHost(script, {
    program: diceHost,
    config: { policy: { tools: { roll_dice: "allow" } } },
  });

  const reply = await running.host.ask("family", "@crab roll");

  const offered = running.model.requests[0]?.tools ?? [];
  expect(offered).toContain("roll_dice");
  expect(offered).toEqual(offered.toSorted());
  const [rolled, wrong, tooMany] = reply.text.split("\n");
  expect(rolled).toMatch(/^[1-6] [1-6] [1-6]$/);
  expect(wrong).toMatch(/The input of roll_dice is wrong: dice: /);
  expect(tooMany).toContain("20 dice with 100 sides are too many");
});

test("a tool that fails is told as failed and nothing more; one that is late is given up, and says nothing afterwards", async () => {
  const script = callsInOrder({ name: "faulty", input: {} }, { name: "late", input: {} });
  const group = troubled.group("faulty", script);

  const reply = await group.ask("@crab go");

  expect(reply.text).toMatch(/^(Error: )?faulty failed\.\n(Error: )?late timed out after 1 s\./);
  expect((await group.replies()).map(({ text }) => text)).not.toContain("said too late");
  const log = group.host.output.join("");
  expect(log).toContain("a tool of the host failed");
  expect(log).toContain("troubled-host.ts");
});

test("a call of a host tool that kill -9 interrupts is told as interrupted and not made again", async () => {
  const group = troubled.group("hanging", ({ toolOutputs }) =>
    toolOutputs.length === 0 ? { toolCalls: [{ name: "hang", input: {} }] } : { text: toolOutputs.join() },
  );
  const { host } = group;
  const calls = (): Promise<string> => readFile(join(host.home, "tool-calls"), "utf8").catch(() => "");

  const said = await group.say("@crab go");
  await expect.poll(calls).toBe("hang\n");
  await restart(host);
  const reply = await group.replyTo(said.id);

  expect(reply.text).toContain("interrupted, result unknown");
  expect(await calls()).toBe("hang\n");
});

/** Edits the file of a stopped host. */
async function denyShell({ name, host }: TestGroup): Promise<void> {
  const { groups } = parse(await readFile(join(host.home, "config.yaml"), "utf8")) as {
    groups: Record<string, object>;
  };
  await host.changeConfig({ groups: { ...groups, [name]: { ...groups[name], policy: { tools: { shell: "deny" } } } } });
}

test("a conversation keeps the tools that it began with; what is lost is refused, what is new waits for the next one", async () => {
  const script = callsInOrder(
    { name: "shell", input: { command: "echo hi" } },
    { name: "react", input: { emoji: "👍" } },
  );
  const group = hosts.group("kept", script);

  const first = await group.ask("@crab one");
  await restart(group.host, { between: () => denyShell(group) });
  const second = await group.ask("@crab two");
  await group.ask("/new");
  const third = await group.ask("@crab three");

  expect(first.text).toMatch(/^hi\n[^]*policy does not allow "react"/);
  expect(second.text).toMatch(
    /policy does not allow "shell"[^]*"react" is new: it can be used in the next conversation/,
  );
  expect(third.text).toMatch(/policy does not allow "shell"[^]*Done\./);
  const offers = [...new Set(group.requests.map(toolsIn))];
  expect(offers).toHaveLength(2);
  expect(offers[0]).toContain('"shell"');
  expect(offers[0]).not.toContain('"react"');
  expect(offers[1]).toContain('"react"');
  expect(offers[1]).not.toContain('"shell"');
  const texts = group.requests.map(({ lastText }) => lastText);
  const changed = texts.findIndex((text) => text.includes("three"));
  expect(group.requests.slice(0, changed).map(toolsIn)).toEqual(Array(changed).fill(offers[0]));
});

test("a turn ends with a notice and a record after this many steps; those before a kill -9 count", async () => {
  const script = runsInOrder("echo 1", "sleep 300", "echo 3", "echo 4", "echo 5");
  const group = hosts.group("steps", script);

  const said = await group.say("@crab go");
  await expect.poll(() => group.requests.length).toBe(2);
  await expect.poll(async () => (await recordsOf(group.host, "tool-call", "steps")).length).toBe(2);
  await restart(group.host);
  const reply = await group.replyTo(said.id);

  expect(reply).toMatchObject({ kind: "notice", text: expect.stringContaining("was asked 3 times") });
  expect(group.requests).toHaveLength(3);
  expect(await limitsOf(group)).toEqual([expect.objectContaining({ limit: "turn-steps", value: 3 })]);
});

test("a model that calls the same thing again and again is stopped, says why, and the next message is answered", async () => {
  const group = hosts.group("stuck", stubborn);

  const stuck = await group.ask("@crab go");
  const asked = group.requests.length;
  const next = await group.ask("@crab enough");

  expect(stuck).toMatchObject({ kind: "notice", text: expect.stringContaining("going round in circles") });
  expect(asked).toBe(5);
  expect(next.text).toBe("fine");
  expect(await limitsOf(group)).toEqual([expect.objectContaining({ limit: "repeats", value: 5 })]);
});
