import { once } from "node:events";
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { homePaths } from "../../src/config/home/home.ts";
import { HostClient } from "../../src/surfaces/cli/host-client.ts";
import { commandLine, converse, jsonLines, newHome, startCrabpot } from "../support/crabpot.ts";
import { shareHost } from "../support/shared-host.ts";
import { listOutbox } from "../../src/operations/outbox/operations.ts";
import { listTurns } from "../../src/operations/turns/operations.ts";

const hosts = shareHost({ process: "shared", groups: { waiting: {}, counted: {} }, withoutContainers: ["counted"] });

test("who waits for long can be seen until the answer is there", async () => {
  const group = hosts.group("waiting");
  const { host } = group;
  const groups = async (): Promise<object[]> => {
    const answer = await host.get("/v1/channels/http/activity");
    return ((await answer.json()) as { groups: object[] }).groups;
  };

  const { id } = await group.say("@crab run until [ -e go ]; do sleep 0.1; done; echo done");
  await expect.poll(groups).toEqual([{ group: "waiting", state: "working", since: expect.any(Number) }]);
  await writeFile(join(host.home, "groups/waiting/go"), "");
  const reply = await group.replyTo(id);

  expect(reply.text).toContain("done");
  await expect.poll(groups).toEqual([]);
});

test("the states of channels and deliveries can be seen, counted and proven", async () => {
  const group = hosts.group("counted");
  const { host } = group;
  const accepted = async (): Promise<number> => {
    const metrics = await (await host.get("/metrics")).text();
    expect(metrics).toContain('crabpot_channel_state{channel="http",state="open"} 1');
    return Number(/^crabpot_deliveries_total\{channel="http",outcome="accepted"\} (\d+)/m.exec(metrics)?.[1] ?? 0);
  };
  const before = await accepted();
  await group.ask("@crab hello");
  const filter = { group: "counted", state: undefined, limit: 20 };
  await expect
    .poll(async () => (await host.control.call(listOutbox, filter)).map(({ state }) => state))
    .toEqual(["accepted"]);

  const listed = await host.cli("outbox", "list");
  const [status] = jsonLines((await host.cli("status", "--json")).stdout);
  const after = await accepted();
  await host.end("SIGTERM");
  const records = jsonLines((await host.cli("audit", "export")).stdout);

  expect(listed.stdout).toContain("\taccepted\t");
  expect(status).toMatchObject({
    channels: [{ name: "http", state: "open" }],
    outbox: { unsent: 0, uncertain: 0, dead: 0 },
  });
  expect(after).toBe(before + 1);
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
  const host = new HostClient(homePaths(place.home).controlSocket);
  const everything = { group: undefined, state: undefined, limit: 20 };
  // Nobody answers before it has started.
  await expect.poll(() => host.call(listTurns, everything).catch(() => [])).toMatchObject([{ state: "running" }]);
  first.kill("SIGKILL");
  await once(first, "exit");
  await writeFile(join(place.home, "groups/main/go"), "");

  const second = startCrabpot(place, "start");
  await expect
    .poll(() => host.call(listOutbox, everything).catch(() => []))
    .toMatchObject([{ channel: "terminal", state: "queued" }]);
  second.kill("SIGTERM");
  await once(second, "exit");
  const third = await converse(place, "", "start", "--terminal", "--json");
  const fourth = await converse(place, "", "start", "--terminal", "--json");

  expect(jsonLines(third.stdout)).toMatchObject([{ type: "reply", group: "main" }]);
  expect(fourth.stdout).toBe("");
});
