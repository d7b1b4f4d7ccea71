import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { groupOf, runsInOrder, startModelHost } from "../support/model-host.ts";

/** Groups whose names begin with `sleeper` have a tool that sleeps until it is ended; others are answered at once. */
const sleepers = (request: Parameters<typeof groupOf>[0]) =>
  groupOf(request).startsWith("sleeper") ? runsInOrder("sleep 600")(request) : { text: "awake" };

const groups = { "sleeper-1": {}, "sleeper-2": {}, "sleeper-3": {}, "sleeper-4": {}, other: {} };

async function recordsOf(host: TestHost, type: string): Promise<readonly Record<string, unknown>[]> {
  const { stdout } = await host.cli("audit", "tail", "--lines", "500", "--json");
  return jsonLines(stdout).filter((record) => record["type"] === type);
}

test("groups whose tools sleep keep no place that another group needs", async () => {
  await using running = await startModelHost(sleepers, { groups, config: { sessions: { maxHot: 2 } } });
  const { host } = running;

  for (const group of ["sleeper-1", "sleeper-2"]) await host.say(group, "@crab go");
  await expect.poll(() => host.containers()).toHaveLength(2);
  const reply = await host.ask("other", "@crab still there?");

  expect(reply).toMatchObject({ kind: "reply", text: "awake" });
});

test("when no place can be left any more, the tools that have run for longest end with a notice and a record", async () => {
  const config = { sessions: { maxHot: 2, holdMinutes: 0.1 } };
  await using running = await startModelHost(sleepers, { groups, config });
  const { host } = running;

  const asleep = [];
  for (const group of ["sleeper-1", "sleeper-2", "sleeper-3", "sleeper-4"]) {
    asleep.push((await host.say(group, "@crab go")).id);
    await expect.poll(() => host.containers()).toHaveLength(asleep.length);
    // A container is there before its tool: the next one's may be faster.
    await expect.poll(() => recordsOf(host, "tool-call"), { timeout: 60_000 }).toHaveLength(asleep.length);
  }
  const reply = await host.ask("other", "@crab still there?");
  const ended = await host.replyTo(asleep[0] ?? "");

  expect(reply).toMatchObject({ kind: "reply", text: "awake" });
  expect(ended).toMatchObject({ kind: "notice", text: expect.stringContaining("Its tools had run for 6 seconds") });
  const hits = await recordsOf(host, "limit-hit");
  expect(hits.map(({ group, data }) => [group, (data as { limit: string }).limit])).toEqual([
    ["sleeper-1", "place-time"],
  ]);
});
