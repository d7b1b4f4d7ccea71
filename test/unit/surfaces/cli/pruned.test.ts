import { expect, test } from "vitest";

import { crabpot, newHome } from "../../../support/crabpot.ts";
import { addFailedTurn, startControlledHost } from "../../../support/crabpot-control.ts";

const everything = { after: 0, limit: 100, before: Date.UTC(2999, 0) };

test("of a turn that is too old to be kept the commands say so, and do not retry it with nothing", async () => {
  await using place = await newHome({});
  await using host = await startControlledHost(place.home);
  const { store } = host;
  await addFailedTurn(store, "t1");
  const { id: session } = await store.sessions.open("main:terminal:main", "main");
  const renewal = { channel: "terminal", chat: "main", id: "new", sender: { id: "ann", name: "Ann" }, text: "/new" };
  const placed = { group: "main", state: "handled", at: 3_000, command: "new" } as const;
  const { seq } = await store.messages.insert({ ...renewal, mention: false }, placed);
  const lastStep = { body: { kind: "user", text: "" }, tokens: 0, at: 0 } as const;
  await store.commands.carryOut(seq, {
    at: 3_000,
    stops: true,
    renews: [session],
    tell: () => ({ reason: "", lastStep, outgoing: [] }),
  });
  const chat = { group: "main", channel: "terminal", chat: "main" };
  const reply = { ...chat, kind: "reply", text: "the answer", inReplyTo: [], turn: "t1" } as const;
  const row = await store.outbox.add(reply, 2_000);
  await store.outbox.setState(row.seq, "dead", 3);

  await store.retention.messages(everything, 200);
  await store.retention.steps(everything);
  await store.retention.replies(everything);
  const shown = await crabpot(place, "turns", "show", "t1");
  const outbox = await crabpot(place, "outbox", "list");
  const retries = [
    await crabpot(place, "turns", "retry", "t1"),
    await crabpot(place, "outbox", "retry", String(row.seq)),
  ];

  expect(shown.stdout).toContain("(a message that is no longer kept)");
  expect(shown.stdout).toContain("The steps of this turn are no longer kept (store.retentionDays.turns).");
  expect(shown.stdout).not.toContain("Ann");
  expect(outbox.stdout).toContain("(no longer kept)");
  expect(retries.map(({ code, stderr }) => [code, stderr.includes("no longer kept")])).toEqual([
    [1, true],
    [1, true],
  ]);
});
