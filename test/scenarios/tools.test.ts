import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { runsInOrder, startModelHost, startWithoutContainers } from "../support/model-host.ts";
import type { ModelScript, ModelServerRequest } from "../support/model-servers/model-server.ts";

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

async function limitsOf(host: TestHost): Promise<unknown[]> {
  const { stdout } = await host.cli("audit", "tail", "--lines", "500", "--json");
  return jsonLines(stdout)
    .filter(({ type }) => type === "limit-hit")
    .map(({ data }) => data);
}

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
  await using running = await startModelHost(script, { program: troubledHost });
  const { host } = running;

  const reply = await host.ask("family", "@crab go");

  expect(reply.text).toMatch(/^(Error: )?faulty failed\.\n(Error: )?late timed out after 1 s\./);
  expect((await host.replies()).map(({ text }) => text)).not.toContain("said too late");
  const log = host.output.join("");
  expect(log).toContain("a tool of the host failed");
  expect(log).toContain("troubled-host.ts");
});

test("a call of a host tool that kill -9 interrupts is told as interrupted and not made again", async () => {
  await using running = await startModelHost(
    ({ toolOutputs }) =>
      toolOutputs.length === 0 ? { toolCalls: [{ name: "hang", input: {} }] } : { text: toolOutputs.join() },
    { program: troubledHost },
  );
  const { host } = running;
  const calls = (): Promise<string> => readFile(join(host.home, "tool-calls"), "utf8").catch(() => "");

  const said = await host.say("family", "@crab go");
  await expect.poll(calls).toBe("hang\n");
  await host.end("SIGKILL");
  await host.boot();
  const reply = await host.replyTo(said.id);

  expect(reply.text).toContain("interrupted, result unknown");
  expect(await calls()).toBe("hang\n");
});

test("a conversation keeps the tools that it began with; what is lost is refused, what is new waits for the next one", async () => {
  const script = callsInOrder(
    { name: "shell", input: { command: "echo hi" } },
    { name: "react", input: { emoji: "👍" } },
  );
  await using running = await startModelHost(script, { config: { policy: { tools: { react: "deny" } } } });
  const { host, model } = running;

  const first = await host.ask("family", "@crab one");
  await host.end("SIGKILL");
  await host.changeConfig({ policy: { tools: { shell: "deny" } } });
  await host.boot();
  const second = await host.ask("family", "@crab two");
  await host.ask("family", "/new");
  const third = await host.ask("family", "@crab three");

  expect(first.text).toMatch(/^hi\n[^]*policy does not allow "react"/);
  expect(second.text).toMatch(
    /policy does not allow "shell"[^]*"react" is new: it can be used in the next conversation/,
  );
  expect(third.text).toMatch(/policy does not allow "shell"[^]*Done\./);
  const offers = [...new Set(model.requests.map(toolsIn))];
  expect(offers).toHaveLength(2);
  expect(offers[0]).toContain('"shell"');
  expect(offers[0]).not.toContain('"react"');
  expect(offers[1]).toContain('"react"');
  expect(offers[1]).not.toContain('"shell"');
  const texts = model.requests.map(({ lastText }) => lastText);
  const changed = texts.findIndex((text) => text.includes("three"));
  expect(model.requests.slice(0, changed).map(toolsIn)).toEqual(Array(changed).fill(offers[0]));
});

test("a turn ends with a notice and a record after so many steps; those before a kill -9 count", async () => {
  const script = runsInOrder("echo 1", "sleep 300", "echo 3", "echo 4", "echo 5");
  await using running = await startModelHost(script, {
    config: { limits: { loopTurns: 0, turnsPerHour: 0, maxSteps: 3 } },
  });
  const { host, model } = running;

  const said = await host.say("family", "@crab go");
  await expect.poll(() => model.requests.length).toBe(2);
  await expect
    .poll(async () => (await host.cli("logs", "--group", "family")).stdout.match(/tool shell/g)?.length)
    .toBe(2);
  await host.end("SIGKILL");
  await host.boot();
  const reply = await host.replyTo(said.id);

  expect(reply).toMatchObject({ kind: "notice", text: expect.stringContaining("was asked 3 times") });
  expect(model.requests).toHaveLength(3);
  expect(await limitsOf(host)).toEqual([expect.objectContaining({ limit: "turn-steps", value: 3 })]);
});

test("a model that calls the same thing again and again is stopped, says why, and the next message is answered", async () => {
  await using running = await startWithoutContainers(stubborn);
  const { host, model } = running;

  const stuck = await host.ask("family", "@crab go");
  const asked = model.requests.length;
  const next = await host.ask("family", "@crab enough");

  expect(stuck).toMatchObject({ kind: "notice", text: expect.stringContaining("going round in circles") });
  expect(asked).toBe(5);
  expect(next.text).toBe("fine");
  expect(await limitsOf(host)).toEqual([expect.objectContaining({ limit: "repeats", value: 5 })]);
});
