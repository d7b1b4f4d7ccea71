import { expect, test as base } from "vitest";

import { findViolations } from "../support/checker.ts";
import { containerTroubles } from "../support/container-troubles.ts";
import { runningTest } from "../support/made-by-tests.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { PrivateEngine } from "../support/private-engine.ts";
import { runSoak } from "../support/soak.ts";
import { Client, endAndAudit, listTurns } from "../support/traffic.ts";

/** One for all tests of this file: each of them leaves it running and empty. */
const test = base.extend<{ engine: PrivateEngine }>({
  engine: [
    async ({ task: _task }, use) => {
      await using engine = await runningTest.exit(() => PrivateEngine.start());
      await use(engine);
    },
    { scope: "file" },
  ],
});

const model: ModelScript = (request) => {
  if (request.toolOutputs.length > 0) return { text: request.toolOutputs.join(" ") };
  if (!request.lastText.includes("work")) return { text: "done" };
  return { toolCalls: [{ name: "shell", input: { command: "echo begun >> begun; sleep 300" } }] };
};

test("an engine that stops, is killed or hangs in the middle of turns is waited for, and nothing is left over", async ({
  engine,
}) => {
  const groups = ["family", "work"];
  await using running = await startModelHost(model, {
    process: "shared",
    groups: { family: {}, work: {} },
    variables: { DOCKER_HOST: engine.url },
    config: { sessions: { silenceTimeoutSeconds: 20 } },
  });
  const { host } = running;
  const client = new Client(host);
  const say = (group: string, id: string, text: string) => client.say({ group, id, text: `@crab ${text}` });
  const begun = async (times: number) =>
    expect.poll(() => host.readGroupFile("work", "begun")).toBe("begun\n".repeat(times));

  // Ended while a command runs, and while there is work for it.
  await say("work", "one", "work");
  await begun(1);
  await engine.end("SIGTERM");
  await say("family", "two", "hello");
  const status = await host.cli("status", "--json");
  await engine.boot();
  await client.readAll(120_000);
  // Killed, so that its containers live on without it.
  await say("work", "three", "work");
  await begun(2);
  await engine.end("SIGKILL");
  await say("family", "four", "hello");
  await engine.boot();
  await client.readAll(120_000);
  // Hung, and the container it would have to look after is killed meanwhile.
  await say("work", "five", "work");
  await begun(3);
  const target = await host.containerOf("work");
  engine.freeze();
  await say("family", "six", "hello");
  engine.thaw();
  await containerTroubles.killed(target);
  await client.readAll(120_000);
  const turns = await listTurns(host, groups);
  const end = await endAndAudit(host);

  expect(JSON.parse(status.stdout)).toMatchObject({ engine: { ok: false } });
  expect(findViolations({ sent: client.sent, replies: client.replies, turns, ...end })).toEqual([]);
  expect(client.replies.map(({ kind }) => kind)).toEqual(client.replies.map(() => "reply"));
}, 600_000);

test("a host that starts before its engine takes messages in and answers them when the engine is there", async ({
  engine,
}) => {
  await using running = await startModelHost(model, { variables: { DOCKER_HOST: engine.url } });
  const { host } = running;
  const client = new Client(host);

  await host.end("SIGKILL");
  await engine.end("SIGTERM");
  host.launch();
  await client.say({ group: "family", id: "one", text: "@crab hello" });
  const ready = await host.get("/health/ready");
  await engine.boot();
  await client.readAll(120_000);

  expect(ready.status).toBe(503);
  expect(client.replies).toMatchObject([{ kind: "reply", text: "done", inReplyTo: ["one"] }]);
}, 300_000);

test("a container that the engine could not remove when it was away is removed when it is back", async ({ engine }) => {
  await using running = await startModelHost(model, {
    process: "shared",
    variables: { DOCKER_HOST: engine.url },
    config: { sessions: { idleStopMinutes: 0.05 } },
  });
  const { host } = running;

  await host.ask("family", "@crab hello");
  await engine.end("SIGKILL");
  await expect
    .poll(() => host.cli("logs", "--group", "family").then(({ stdout }) => stdout))
    .toContain("it was idle for too long");
  await engine.boot();

  await expect.poll(() => host.containers()).toEqual([]);
});

test("a host that is told to stop while the engine hangs ends in time and answers after the next start", async ({
  engine,
}) => {
  await using running = await startModelHost(model, { variables: { DOCKER_HOST: engine.url } });
  const { host } = running;
  const client = new Client(host);

  engine.freeze();
  await client.say({ group: "family", id: "one", text: "@crab hello" });
  const told = performance.now();
  const code = await host.end("SIGTERM");
  const tookMs = performance.now() - told;
  engine.thaw();
  await host.boot();
  await client.readAll(120_000);

  expect(code).toBe(0);
  // Well before the engine's hanging requests are given up.
  expect(tookMs).toBeLessThan(55_000);
  expect(client.replies).toMatchObject([{ kind: "reply", text: "done", inReplyTo: ["one"] }]);
}, 300_000);

test("in a mix of all faults at random, every message is answered once, in order", async ({ engine }) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const lines: string[] = [`seed ${seed}`];

  const result = await runSoak({
    seed,
    engine,
    groups: 5,
    messages: 40,
    faultEveryMs: 2_500,
    say: (line) => void lines.push(line),
  });

  expect({ lines, violations: result.violations }).toEqual({ lines, violations: [] });
  expect(result.accepted).toBe(40);
}, 900_000);
