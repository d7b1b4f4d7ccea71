import { once } from "node:events";
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { commandLine, converse, crabpot, jsonLines, newHome, startCrabpot } from "../support/crabpot.ts";
import { TestHost } from "../support/host.ts";

test("who waits for long can be seen until the answer is there", async () => {
  await using host = await TestHost.start();
  const groups = async (): Promise<object[]> => {
    const answer = await host.get("/v1/channels/http/activity");
    return ((await answer.json()) as { groups: object[] }).groups;
  };

  const { id } = await host.say("family", "@crab run until [ -e go ]; do sleep 0.1; done; echo done");
  await expect.poll(groups).toEqual([{ group: "family", state: "working", since: expect.any(Number) }]);
  await writeFile(join(host.home, "groups/family/go"), "");
  const reply = await host.replyTo(id);

  expect(reply.text).toContain("done");
  await expect.poll(groups).toEqual([]);
});

test("the states of channels and deliveries can be seen, counted and proven", async () => {
  await using host = await TestHost.start();
  await host.ask("family", "@crab run echo hi");
  await expect.poll(async () => (await host.cli("outbox", "list")).stdout).toContain("\taccepted\t");

  const [status] = jsonLines((await host.cli("status", "--json")).stdout);
  const metrics = await (await host.get("/metrics")).text();
  await host.end("SIGTERM");
  const records = jsonLines((await host.cli("audit", "export")).stdout);

  expect(status).toMatchObject({
    channels: [{ name: "http", state: "open" }],
    outbox: { unsent: 0, uncertain: 0, dead: 0 },
  });
  expect(metrics).toContain('crabpot_channel_state{channel="http",state="open"} 1');
  expect(metrics).toContain('crabpot_deliveries_total{channel="http",outcome="accepted"} 1');
  const states = records.filter(({ type }) => type === "channel-state").map(({ data }) => data);
  expect(states).toMatchObject([
    { channel: "http", state: "open" },
    { channel: "http", state: "closed" },
  ]);
  expect((await host.cli("audit", "verify")).code).toBe(0);
});

test("what is answered while nobody sits at the terminal is printed by the next one, once", async () => {
  await using place = await newHome();
  const environment = { PATH: process.env["PATH"], HOME: resolve(place.home, ".."), CRABPOT_HOME: place.home };
  const first = spawn(commandLine, ["start", "--terminal"], { env: environment, stdio: "pipe" });
  first.stdin.write("run until [ -e go ]; do sleep 0.1; done; echo late\n");
  await expect
    .poll(async () => jsonLines((await crabpot(place, "turns", "list", "--json")).stdout))
    .toMatchObject([{ state: "running" }]);
  first.kill("SIGKILL");
  await once(first, "exit");
  await writeFile(join(place.home, "groups/main/go"), "");

  const second = startCrabpot(place, "start");
  await expect
    .poll(async () => jsonLines((await crabpot(place, "outbox", "list", "--json")).stdout))
    .toMatchObject([{ channel: "terminal", state: "queued" }]);
  second.kill("SIGTERM");
  await once(second, "exit");
  const third = await converse(place, "", "start", "--terminal", "--json");
  const fourth = await converse(place, "", "start", "--terminal", "--json");

  expect(jsonLines(third.stdout)).toMatchObject([{ type: "reply", group: "main" }]);
  expect(fourth.stdout).toBe("");
});
