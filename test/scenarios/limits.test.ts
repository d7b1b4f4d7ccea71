import { rm } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { groupOf, runsInOrder, startModelHost } from "../support/model-host.ts";

interface LimitRecord {
  readonly limit: string;
  readonly value: number;
  readonly text: string;
}

/** The records of limits that a group has reached. */
async function limitsOf(host: TestHost, group: string): Promise<LimitRecord[]> {
  const { stdout } = await host.cli("audit", "tail", "--lines", "500", "--json");
  return jsonLines(stdout)
    .filter((record) => record["type"] === "limit-hit" && record["group"] === group)
    .map((record) => record["data"] as LimitRecord);
}

const sessionLog = async (host: TestHost, group: string): Promise<string> =>
  (await host.cli("logs", "--group", group)).stdout;

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
  const script = runsInOrder(hog, bomb);
  await using running = await startModelHost(script, { config: { sandbox: { memoryMb: 256, pids: 100 } } });

  const reply = await running.host.ask("family", "@crab go");

  expect(reply.text).toMatch(/\[The container's memory was used up: a process had to be ended\.\]/);
  expect(reply.text).toMatch(/\[The container had as many processes as it may have/);
  const kinds = async () => (await limitsOf(running.host, "family")).map(({ limit }) => limit);
  await expect.poll(kinds).toEqual(expect.arrayContaining(["memory", "processes"]));
  const limits = await limitsOf(running.host, "family");
  expect(limits.every(({ value }) => value > 0)).toBe(true);
  expect(await sessionLog(running.host, "family")).toContain("memory was used up");
});

test("a flood on the container's output is cut off and on record", async () => {
  const script = runsInOrder("timeout 2 yes flood > /proc/1/fd/1; echo flooded");
  await using running = await startModelHost(script);

  await running.host.ask("family", "@crab go");

  // One for each five seconds that it took to cut it off.
  const kinds = async () => new Set((await limitsOf(running.host, "family")).map(({ limit }) => limit));
  await expect.poll(kinds).toEqual(new Set(["output-rate"]));
});

test("a turn that takes too long ends with a notice and a record", async () => {
  const script = runsInOrder("sleep 60");
  const config = { sessions: { turnTimeoutMinutes: 0.05 } };
  await using running = await startModelHost(script, { config });

  const reply = await running.host.ask("family", "@crab go");

  expect(reply).toMatchObject({ kind: "notice", text: expect.stringContaining("longer than the 3 seconds") });
  await expect
    .poll(() => limitsOf(running.host, "family"))
    .toEqual([expect.objectContaining({ limit: "turn-time", value: 3_000 })]);
});

test("a folder above its quota ends the container and refuses turns in plain words until there is room again", async () => {
  const fill =
    "for i in $(seq 20); do head -c 20000000 /dev/zero > big-$i || break; sleep 0.5; done; sleep 30; echo filled";
  const config = { sandbox: { workspaceMb: 100 } };
  await using running = await startModelHost(runsInOrder(fill), { config });
  const { host } = running;

  const filled = await host.ask("family", "@crab go");
  const again = await host.ask("family", "@crab again");
  await expect.poll(() => host.containers()).toEqual([]);
  for (let i = 1; i <= 20; i += 1) await rm(join(host.home, `groups/family/big-${i}`), { force: true });
  const after = await host.ask("family", "@crab and now?");

  for (const { kind, text } of [filled, again]) {
    expect(kind).toBe("notice");
    expect(text).toMatch(/folder holds \d+ MiB; the limit is 100 MiB/);
    expect(text).toContain("du -xh");
  }
  expect(after).toMatchObject({ kind: "reply" });
  expect((await limitsOf(host, "family"))[0]).toMatchObject({ limit: "workspace" });
});

test("a folder of too many small files is refused as well", async () => {
  const fill = `python3 -c "import os; [open(f'f{i}', 'w').close() for i in range(5000)]"; echo filled`;
  const config = { sandbox: { workspaceMb: 16 } };
  await using running = await startModelHost(runsInOrder(fill), { config });

  await running.host.ask("family", "@crab go");
  const again = await running.host.ask("family", "@crab again");

  expect(again).toMatchObject({ kind: "notice", text: expect.stringMatching(/\d{4} files and folders, and 4096/) });
});

test("while one group attacks with everything it has, another is answered", async () => {
  const attack = [
    "(bomb() { bomb | bomb & }; bomb) 2>/dev/null",
    "timeout 4 yes flood > /proc/1/fd/1 &",
    "(for i in $(seq 40); do head -c 10000000 /dev/zero > fill-$i; done) 2>/dev/null &",
    `timeout 4 python3 -c "b = bytearray(2_000_000_000)" 2>/dev/null`,
    "sleep 3; true",
  ].join("\n");
  const config = { sandbox: { pids: 100, memoryMb: 256, workspaceMb: 100, cpus: 0.5 } };
  // A container that is out of everything at once may need minutes for it; what is left then goes on in the background.
  const attacking = { name: "shell", input: { command: attack, timeout_s: 15 } };
  await using running = await startModelHost(
    (request) => {
      const rounds = request.messages.filter(({ role }) => role === "tool").length;
      if (groupOf(request) !== "attacker") return { text: "unharmed" };
      return rounds < 2 ? { toolCalls: [attacking] } : { text: "done" };
    },
    { groups: { attacker: {}, other: {} }, config },
  );
  const { host } = running;

  const attacked = await host.say("attacker", "@crab go");
  const answers: string[] = [];
  for (let round = 0; round < 5; round += 1) answers.push((await host.ask("other", "@crab still there?")).text);
  const last = await host.replyTo(attacked.id);

  expect(answers).toEqual(Array.from({ length: 5 }, () => "unharmed"));
  expect(last.turn).not.toBeNull();
  expect((await limitsOf(host, "attacker")).length).toBeGreaterThan(0);
  expect(await limitsOf(host, "other")).toEqual([]);
});
