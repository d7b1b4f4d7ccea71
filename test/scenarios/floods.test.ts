import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { shareHost } from "../support/shared-host.ts";

const hosts = shareHost({
  groups: { family: {}, work: {}, looping: {} },
  config: {
    intake: { perMemberPerDay: { messages: 1_000, megabytes: 1 } },
    limits: { loopTurns: 4, turnsPerHour: 0 },
  },
  withoutContainers: "all",
});

/** The records of limits that a group has reached, newest last. */
async function limitsHit(host: TestHost, group: string): Promise<unknown[]> {
  const { stdout } = await host.cli("audit", "tail", "--lines", "500", "--json");
  return jsonLines(stdout)
    .filter((record) => record["type"] === "limit-hit" && record["group"] === group)
    .map(({ actor, data }) => ({ actor, limit: (data as Record<string, unknown>)["limit"] }));
}

test("a member who floods is kept out until the day ends, also over a restart; everybody else is served", async () => {
  const { host } = hosts;
  const sender = { id: "mallory", name: "Mallory" };
  const text = "x".repeat(60_000);

  const statuses = [];
  for (let times = 0; times < 20; times += 1) statuses.push((await host.say("family", text, { sender })).status);
  const refused = await host.say("work", text, { sender });
  const command = await host.say("family", "/status", { sender });
  await host.end("SIGTERM");
  await host.boot();
  const after = await host.say("family", text, { sender });
  const others = [await host.ask("family", "@crab hello"), await host.ask("work", "@crab hello")];

  const taken = statuses.filter((status) => status === 202).length;
  expect([taken, new Set(statuses)]).toEqual([17, new Set([202, 429])]);
  expect(refused).toMatchObject({ status: 429, body: { error: { code: "rate_limited", reason: "daily-limit" } } });
  expect(Number(refused.retryAfter)).toBeGreaterThan(0);
  expect(Number(refused.retryAfter)).toBeLessThanOrEqual(24 * 3600);
  expect(await host.replyTo(command.id)).toMatchObject({
    kind: "notice",
    text: expect.stringContaining("in group family"),
  });
  expect(after.status).toBe(429);
  expect(others).toMatchObject([{ kind: "reply" }, { kind: "reply" }]);
  const told = (await host.replies()).filter((reply) => reply.text.includes(`"Mallory" has sent as much text today`));
  expect(told.map(({ group }) => group)).toEqual(["family"]);
  expect(await limitsHit(host, "family")).toEqual([{ actor: "member:mallory", limit: "megabytes-per-member-per-day" }]);
});

test("a bot that answers each answer is stopped and told why, /status says so, and a person goes on at once", async () => {
  const group = hosts.group("looping");
  const sender = { id: "bot", name: "Bot" };
  for (let times = 0; times < 4; times += 1) await group.ask("@crab hello", { sender });

  const held = await group.ask("@crab hello", { sender });
  const status = await group.ask("/status", { sender });
  const person = await group.ask("@crab hello");

  expect(held).toMatchObject({
    kind: "notice",
    text: expect.stringMatching(/^I was called 4 times in a row/),
  });
  expect(status.text).toMatch(/^Not answering for another 1 minute: programs seem to answer each other here\.$/m);
  expect(person.kind).toBe("reply");
  expect(await limitsHit(group.host, "looping")).toEqual([{ actor: "member:bot", limit: "loop" }]);
});
