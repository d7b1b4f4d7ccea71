import { rm } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { LimitHit } from "../../src/domain/turns/limit.ts";
import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { runsInOrder } from "../support/model-host.ts";
import { setForTest, shareModelHost, type TestGroup } from "../support/shared-host.ts";

const hosts = shareModelHost({
  process: "shared",
  groups: { greedy: {}, loud: {}, slow: {}, full: {}, crumbs: {}, attacker: {}, other: {} },
  config: { sandbox: { pids: 100, memoryMb: 256, workspaceMb: 100, cpus: 0.5 } },
});

/** The limits that a group has reached, as its events tell. */
async function reached(group: TestGroup): Promise<LimitHit[]> {
  return (await group.events("limit.reached")).map((event) => ("data" in event ? event.data : event) as LimitHit);
}

/** The records of limits that groups have reached. */
async function onRecord(host: TestHost): Promise<{ group?: string; data: LimitHit }[]> {
  const { stdout } = await host.cli("audit", "tail", "--lines", "1000", "--json");
  const records = jsonLines(stdout) as { type?: string; group?: string; data: LimitHit }[];
  return records.filter(({ type }) => type === "limit-hit");
}

test("the model is told when its tools run out of memory or processes, and both are on record", async () => {
  const hog = `python3 -c "b = bytearray(2_000_000_000)"; echo "ended with $?"`;
  // None ends before the limit is reached, however long that takes.
  const bomb = `python3 - <<'END'
import os, signal
children = []
try:
    while True:
        child = os.fork()
        if child == 0: signal.pause()
        children.append(child)
except BlockingIOError: print("bombed")
for child in children: os.kill(child, signal.SIGKILL)
END`;
  const group = hosts.group("greedy", runsInOrder(hog, bomb));

  const reply = await group.ask("@crab go");

  expect(reply.text).toMatch(/\[The container's memory was used up: a process had to be ended\.\]/);
  expect(reply.text).toMatch(/\[The container had as many processes as it may have/);
  const kinds = async () => (await reached(group)).map(({ limit }) => limit);
  await expect.poll(kinds).toEqual(expect.arrayContaining(["memory", "processes"]));
  const limits = await reached(group);
  expect(limits.every(({ value }) => value > 0)).toBe(true);
  expect((await group.host.cli("logs", "--group", "greedy")).stdout).toContain("memory was used up");
});

test("a flood on the container's output is cut off and on record", async () => {
  const group = hosts.group("loud", runsInOrder("timeout 2 yes flood > /proc/1/fd/1; echo flooded"));

  await group.ask("@crab go");

  // One for each five seconds that it took to cut it off.
  const kinds = async () => new Set((await reached(group)).map(({ limit }) => limit));
  await expect.poll(kinds).toEqual(new Set(["output-rate"]));
});

test("a turn that takes too long ends with a notice and a record", async () => {
  const group = hosts.group("slow", runsInOrder("sleep 600"));
  await using _ = await setForTest(group.host, "sessions.turnTimeoutMinutes", 0.05);

  const reply = await group.ask("@crab go");

  expect(reply).toMatchObject({ kind: "notice", text: expect.stringContaining("longer than the 3 seconds") });
  await expect.poll(() => reached(group)).toEqual([expect.objectContaining({ limit: "turn-time", value: 3_000 })]);
});

test("a folder above its quota ends the container and refuses turns in plain words until there is room again", async () => {
  const fill =
    "for i in $(seq 20); do head -c 20000000 /dev/zero > big-$i || break; sleep 0.5; done; sleep 30; echo filled";
  const group = hosts.group("full", runsInOrder(fill));

  const filled = await group.ask("@crab go");
  const again = await group.ask("@crab again");
  await expect.poll(() => group.containers()).toEqual([]);
  for (let i = 1; i <= 20; i += 1) await rm(join(group.host.home, `groups/full/big-${i}`), { force: true });
  const after = await group.ask("@crab and now?");

  for (const { kind, text } of [filled, again]) {
    expect(kind).toBe("notice");
    expect(text).toMatch(/folder holds \d+ MiB; the limit is 100 MiB/);
    expect(text).toContain("du -xh");
  }
  expect(after).toMatchObject({ kind: "reply" });
  expect((await reached(group))[0]).toMatchObject({ limit: "workspace" });
});

test("a folder of too many small files is refused as well", async () => {
  const fill = `python3 -c "import os; [open(f'f{i}', 'w').close() for i in range(5000)]"; echo filled`;
  const group = hosts.group("crumbs", runsInOrder(fill));
  await using _ = await setForTest(group.host, "sandbox.workspaceMb", 16);

  await group.ask("@crab go");

  // What others remove from the disk at the same moment hides it from the first looks.
  await expect
    .poll(() => group.ask("@crab again"))
    .toMatchObject({ kind: "notice", text: expect.stringMatching(/\d{4} files and folders, and 4096/) });
});

test("while one group attacks with everything it has, another is answered", async () => {
  const attack = [
    "(bomb() { bomb | bomb & }; bomb) 2>/dev/null",
    "timeout 4 yes flood > /proc/1/fd/1 &",
    "(for i in $(seq 40); do head -c 10000000 /dev/zero > fill-$i; done) 2>/dev/null &",
    `timeout 4 python3 -c "b = bytearray(2_000_000_000)" 2>/dev/null`,
    "sleep 3; true",
  ].join("\n");
  // A container that is out of everything at once may need minutes for it; what is left then goes on in the background.
  const attacking = { name: "shell", input: { command: attack, timeout_s: 15 } };
  const attacker = hosts.group("attacker", ({ messages }) => {
    const rounds = messages.filter(({ role }) => role === "tool").length;
    return rounds < 2 ? { toolCalls: [attacking] } : { text: "done" };
  });
  const other = hosts.group("other", () => ({ text: "unharmed" }));

  const attacked = await attacker.say("@crab go");
  const answers: string[] = [];
  for (let round = 0; round < 5; round += 1) answers.push((await other.ask("@crab still there?")).text);
  const last = await attacker.replyTo(attacked.id);

  expect(answers).toEqual(Array.from({ length: 5 }, () => "unharmed"));
  expect(last.turn).not.toBeNull();
  expect((await reached(attacker)).length).toBeGreaterThan(0);
  expect(await reached(other)).toEqual([]);
});

test("each limit that was reached is on record as it was told", async () => {
  const names = ["greedy", "loud", "slow", "full", "attacker"] as const;
  const groups = names.map((name) => hosts.group(name, () => ({ text: "ok" })));
  const records = (await onRecord(hosts.running.host)).filter(({ group }) => group !== undefined);

  for (const group of groups) {
    const told = await reached(group);
    expect(told).not.toEqual([]);
    const own = records.filter(({ group: name }) => name === group.name).map(({ data }) => data);
    expect(own).toEqual(expect.arrayContaining(told));
  }
});
