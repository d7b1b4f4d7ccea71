import { expect, test } from "vitest";

import { startControlledHost } from "../../../support/crabpot-control.ts";
import { crabpot, jsonLines, newHome } from "../../../support/crabpot.ts";

const draft = { group: "main", channel: "terminal", chat: "main", kind: "reply", inReplyTo: [], turn: "t1" } as const;

test("messages that were given up are listed with the reason, and sent again one by one or all together", async () => {
  await using place = await newHome();
  await using host = await startControlledHost(place.home);
  const { outbox } = host.store;
  const add = async (text: string, state: "dead" | "uncertain" | "accepted"): Promise<number> => {
    const { seq } = await outbox.add({ ...draft, text }, 1_000);
    await outbox.setState(seq, state, 1, "no such chat");
    return seq;
  };
  const [first, second] = [await add("evil\u001b[2J", "dead"), await add("y".repeat(500), "dead")];
  const [unsure, sent] = [await add("unsure", "uncertain"), await add("fine", "accepted")];

  const listed = await crabpot(place, "outbox", "list", "--state", "dead", "--group", "main");
  const json = await crabpot(place, "outbox", "list", "--json");
  const status = await crabpot(place, "status");
  const one = await crabpot(place, "outbox", "retry", String(first));
  const uncertain = await crabpot(place, "outbox", "retry", String(unsure), "--json");
  const all = await crabpot(place, "outbox", "retry", "--all-dead", "--json");
  const refused = await crabpot(place, "outbox", "retry", String(sent));
  const unknown = await crabpot(place, "outbox", "retry", "999");

  expect(listed.stdout.trimEnd().split("\n")).toHaveLength(3);
  expect(listed.stdout).toMatch(/reply\tdead\t1\t.*no such chat\tevil\\u\{1b\}\[2J/);
  expect(jsonLines(json.stdout).map(({ seq }) => seq)).toEqual([sent, unsure, second, first]);
  expect(status.stdout).toMatch(/^outbox +1 unsent, 1 of them uncertain, 2 dead$/m);
  expect(one).toMatchObject({ code: 0, stdout: "1 message is queued again.\n" });
  expect(jsonLines(uncertain.stdout)).toEqual([{ retried: [unsure] }]);
  expect(jsonLines(all.stdout)).toEqual([{ retried: [second] }]);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("is accepted; only a dead or uncertain")]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("There is no message 999")]);
  expect(await outbox.counts()).toMatchObject({ queued: 3, accepted: 1, dead: 0, uncertain: 0 });
});

test("the operator says something in a group's chat as the host, and the agent is told nothing", async () => {
  await using place = await newHome();
  await using host = await startControlledHost(place.home);

  const sent = await crabpot(place, "send", "main", "Back at noon\u001b[2J.", "--json");
  const plain = await crabpot(place, "send", "main", "And again.");
  const refused = await Promise.all([crabpot(place, "send", "mian", "Hello"), crabpot(place, "send", "main", " ")]);
  const listed = await crabpot(place, "outbox", "list", "--group", "main", "--json");

  const [row, ...others] = jsonLines(listed.stdout).toReversed();
  expect(jsonLines(sent.stdout)).toEqual([{ ...row, id: row?.["seq"] }]);
  expect(row).toMatchObject({ group: "main", kind: "notice", text: "Back at noon\u001b[2J.", state: "queued" });
  expect(others).toHaveLength(1);
  expect(plain).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Queued as message \d+ for group main\.\n$/),
  });
  expect(refused.map(({ code }) => code)).toEqual([1, 2]);
  expect(refused[0].stderr).toContain('There is no group "mian"; did you mean main?');
  expect(await host.store.messages.waitingByGroup()).toEqual([]);
  expect(host.records).toContainEqual({ operation: "send", parameters: { group: "main" }, outcome: "done" });
});
