import { setTimeout as delay } from "node:timers/promises";

import { expect, test } from "vitest";

import { findViolations } from "../support/checker.ts";
import { TestHost } from "../support/host.ts";
import { seededRandom } from "../support/random.ts";
import { Client, endAndAudit, listTurns, speakInAll } from "../support/traffic.ts";

/** New with each run; put the number of a failed run here to see it again. */
const seed = Math.floor(Math.random() * 2 ** 31);

test(`killed at random times, from its very first start on, the host answers all once, in order (seed ${seed})`, async () => {
  const random = seededRandom(seed);
  const groups = ["one", "two", "three"];
  await using host = await TestHost.prepare({ groups: Object.fromEntries(groups.map((group) => [group, {}])) });
  const client = new Client(host);
  const speaking = speakInAll(
    client,
    {
      groups,
      next: (group, index) => (index < 8 ? `@crab run echo ${group}-${index} >> said` : undefined),
      cutPercent: 30,
      pauseMs: () => random.between(0, 1_000),
    },
    random,
  );

  // The first lives end while the home is being made, later ones in the middle of turns.
  for (const life of Array.from({ length: 14 }, (_, index) => index)) {
    host.launch();
    await delay(life < 5 ? random.between(50, 900) : random.between(500, 2_500));
    await host.end("SIGKILL");
    await client.read();
  }
  await host.boot();
  await speaking;
  await client.readAll(240_000);
  const turns = await listTurns(host, groups);
  const said = await Promise.all(groups.map((group) => host.readGroupFile(group, "said")));
  const end = await endAndAudit(host);

  expect(findViolations({ sent: client.sent, replies: client.replies, turns, ...end })).toEqual([]);
  for (const lines of said.map((text) => text.split("\n").filter((line) => line !== "")))
    expect(new Set(lines).size).toBe(lines.length);
}, 600_000);
