import { expect, test } from "vitest";

import { ContainerCgroups } from "../../src/sandbox/cgroups/container-cgroups.ts";
import { readHeldMemoryMb } from "../../src/sandbox/cgroups/held-memory.ts";
import { jsonLines } from "../support/crabpot.ts";
import { TestHost } from "../support/host.ts";
import { shareHost, type TestGroup } from "../support/shared-host.ts";
import { listSessions } from "../../src/operations/sessions/operations.ts";

const freezing = shareHost({ groups: { idle: {}, killed: {} }, config: { sessions: { freezeSeconds: 0.2 } } });
/** One more than turns that run at once. */
const names = Array.from({ length: 17 }, (_, index) => `group-${index}`);
const many = shareHost({ groups: Object.fromEntries(names.map((name) => [name, {}])) });

async function stateOf({ host, name }: TestGroup): Promise<string | undefined> {
  const sessions = await host.control.call(listSessions, {});
  return sessions.find(({ group }) => group === name)?.container?.state;
}

/** State by the engine. */
async function statusOf(group: TestGroup): Promise<unknown[]> {
  await using engine = await group.host.openEngine();
  const found = await Promise.all((await group.containers()).map((id) => engine.inspect(id)));
  return found.map((inspection) => (inspection?.["State"] as { Status: string } | undefined)?.Status);
}

const untilPaused = (group: TestGroup) => expect.poll(() => statusOf(group)).toEqual(["paused"]);

test("an idle container is frozen, and goes on with the next message", async () => {
  const group = freezing.group("idle");
  await group.ask("@crab hello");
  const before = await group.containers();

  await expect.poll(() => stateOf(group)).toBe("frozen");
  // The host says so as soon as it has asked for it.
  await untilPaused(group);
  const reply = await group.ask("@crab run echo awake");

  expect(reply.text).toContain("awake");
  expect(await group.containers()).toEqual(before);
});

test("a frozen container outlives kill -9 of the host, and is ended with the host in good order", async () => {
  const group = freezing.group("killed");
  const { host } = group;
  await group.ask("@crab hello");
  const before = await group.containers();
  await untilPaused(group);

  await host.end("SIGKILL");
  await host.boot();
  const adopted = await stateOf(group);
  const reply = await group.ask("@crab run echo awake");
  const after = await group.containers();
  await untilPaused(group);
  await host.end("SIGTERM");

  expect(adopted).toBe("frozen");
  expect(reply.text).toContain("awake");
  expect(after).toEqual(before);
  expect(await host.containers()).toEqual([]);
});

test("while the machine has less memory than the reserve, a group that speaks takes the place of an idle one", async () => {
  const config = { sessions: { memoryReserveMb: 1e9 } };
  await using host = await TestHost.start({ groups: { one: {}, other: {} }, config });

  await host.ask("one", "@crab hello");
  await host.ask("other", "@crab hello");

  expect(await host.containers()).toHaveLength(1);
});

test("more groups than turns that run at once all keep their containers while there is memory", async () => {
  const { host } = many;

  await Promise.all(names.map((name) => host.ask(name, "@crab hello")));
  const status = await host.cli("status", "--json");

  expect(await host.containers()).toHaveLength(17);
  expect(jsonLines(status.stdout)).toMatchObject([{ containers: { hot: 17, busy: 0, max: null } }]);
});

test("what a container holds is what its processes and its files in memory take", async () => {
  const group = many.group("group-0");
  const { host } = group;
  const held = async () => {
    const { id } = await host.containerOf("group-0");
    await using engine = await host.openEngine();
    const state = (await engine.inspect(id))?.["State"] as { Pid: number } | undefined;
    const cgroups = await ContainerCgroups.find(state?.Pid ?? 0, id);
    return (cgroups && (await readHeldMemoryMb(cgroups))) ?? 0;
  };

  await group.ask("@crab hello");
  const idle = await held();
  // Written and used all the time: the kernel may take memory away that nobody touches.
  await group.ask("@crab run head -c 30M /dev/zero > /tmp/large");
  await expect.poll(held).toBeGreaterThan(idle + 10);
  const greedy = "b = bytearray(100 << 20); open('up', 'w').write('up')\nwhile True: b[::4096] = bytes(len(b) // 4096)";
  await group.ask(`@crab run setsid python3 -c "${greedy}" & until [ -s up ]; do sleep 0.1; done`);
  await expect.poll(held).toBeGreaterThan(idle + 70);

  expect(idle).toBeGreaterThan(5);
});
