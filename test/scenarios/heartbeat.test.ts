import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { homePaths } from "../../src/config/home/home.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { HostClient } from "../../src/surfaces/cli/host-client.ts";
import { AgentsInProcess } from "../support/agents-in-process.ts";
import { jsonLines } from "../support/crabpot.ts";
import { openEmbeddedHost } from "../support/embedded-host.ts";
import { clockAheadVariable } from "../support/host-options.ts";
import { modelKey, startModelHost } from "../support/model-host.ts";
import { startOpenAiServer } from "../support/model-servers/openai.ts";
import { tailEvents } from "../../src/operations/events/operations.ts";
import { addGroup } from "../../src/operations/groups/operations.ts";
import { readStatus } from "../../src/operations/host/operations.ts";
import { listTurns } from "../../src/operations/turns/operations.ts";
import { listWork } from "../../src/operations/work/operations.ts";

const isBeat = (text: string): boolean => text.includes('<work cause="heartbeat" from="file">');

test("agents look by themselves, with the models that are meant for it, and say only what is worth saying", async () => {
  const asked: { model: string; texts: string[] }[] = [];
  await using model = await startOpenAiServer((request) => {
    asked.push({ model: request.model, texts: request.messages.map(({ text }) => text) });
    return { text: request.lastText.includes("water") ? "The plants need water." : "`NO_REPLY`" };
  });
  const time = { aheadMs: 0 };
  const clock = { ...systemClock, now: () => systemClock.now() + time.aheadMs };
  await using host = await openEmbeddedHost(
    {
      models: {
        routes: { main: ["gpt/dear"], cheap: ["gpt/cheap"] },
        providers: { gpt: { kind: "openai", apiKey: modelKey, baseUrl: model.url } },
      },
      heartbeat: { everyMinutes: 30, route: "cheap" },
    },
    { clock, agents: new AgentsInProcess() },
  );
  const file = join(host.home, "groups", "office", "HEARTBEAT.md");
  const control = new HostClient(homePaths(host.home).controlSocket);
  const next = async () => (await control.call(readStatus, {})).nextHeartbeat;
  let groups = 0;
  /** The next moment has come, and the host looks at once, as it does for each new group. */
  const beat = async () => {
    time.aheadMs += ((await next())?.at ?? 0) - clock.now();
    groups += 1;
    await control.call(addGroup, { name: `other-${groups}`, channel: "fake", chat: `other-${groups}` });
  };
  const beats = async () => {
    const turns = await control.call(listTurns, { group: "office", state: undefined, limit: 20 });
    return turns.filter(({ cause }) => cause === "heartbeat").map(({ state }) => state);
  };
  await expect.poll(next).toBeTruthy();

  await writeFile(file, "# Nothing yet\n");
  await beat();
  await expect.poll(async () => (await next())?.at).toBeGreaterThan(clock.now());
  const none = [await beats(), asked.length];
  await writeFile(file, "- look at the plants: do they need water?");
  await beat();
  await expect.poll(() => host.channel.heard("home")).toEqual(["The plants need water."]);
  await writeFile(file, "- look at the sky");
  await beat();
  await expect.poll(beats).toEqual(["done", "done"]);

  expect(none).toEqual([[], 0]);
  expect(asked.map((request) => request.model)).toEqual(["cheap", "cheap"]);
  // Each beat is its own conversation.
  expect(asked.map(({ texts }) => texts.filter(isBeat).length)).toEqual([1, 1]);
  expect(asked[1]?.texts.join("\n")).not.toContain("plants");
  expect(host.channel.heard("home")).toEqual(["The plants need water."]);
  const sessions = jsonLines((await host.cli("sessions", "list", "--json")).stdout);
  expect(sessions.map(({ key }) => key)).toContain("main:fake:home:heartbeat:beat");
  const query = { after: 0, last: 0, type: "heartbeat.*" };
  const events = await Array.fromAsync(control.follow(tailEvents, query));
  expect(events.map((event) => "type" in event && event.type)).toEqual(["heartbeat.begun", "heartbeat.begun"]);
  // In the chat people see that it looks by itself, and end that.
  const told = async (text: string, count: number) => {
    await host.channel.say("home", text);
    await expect.poll(() => host.channel.heard("home")).toHaveLength(count);
    return host.channel.heard("home").at(-1);
  };
  expect(await told("/tasks", 2)).toMatch(/I also check HEARTBEAT.md regularly: next \d{4}-\d\d-\d\d \d\d:[03]0 /);
  expect(await told("/set office heartbeat off", 3)).toContain("heartbeat");
  expect(await told("/tasks", 4)).toBe("There are no tasks.");
});

test("killed after a beat was stored, the host looks once for it", async () => {
  // Beats come with the minutes. So that nobody waits for one, its clock is a few seconds before the next.
  const ahead = 56_000 - (Date.now() % 60_000);
  await using running = await startModelHost(({ lastText }) => ({ text: isBeat(lastText) ? "looked" : "hello" }), {
    groups: { family: { heartbeat: { everyMinutes: 1 } } },
    variables: { [clockAheadVariable]: String(ahead) },
    withoutContainers: "all",
    prepared: true,
  });
  const { host } = running;
  await mkdir(join(host.home, "groups", "family"), { recursive: true });
  await writeFile(join(host.home, "groups", "family", "HEARTBEAT.md"), "look");
  expect(await host.liveUntil("after:work.addAside")).toBe(true);
  // Only what is stored is done after this.
  await host.changeConfig({ groups: { family: { channel: "http", chat: "family" } } });

  await host.boot();

  await expect.poll(async () => (await host.replies()).map(({ text }) => text)).toEqual(["looked"]);
  expect(await host.control.call(listWork, { group: "family", state: undefined, limit: 20 })).toMatchObject([
    { cause: "heartbeat", state: "settled" },
  ]);
}, 300_000);
