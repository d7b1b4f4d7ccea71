import { expect, test } from "vitest";

import { commandsOf } from "../../../../src/surfaces/chat/catalog.ts";
import type { CommandServices } from "../../../../src/surfaces/chat/command.ts";
import type { BudgetLimits, Group } from "../../../../src/domain/chats/group.ts";
import type { CallUsage } from "../../../../src/domain/turns/usage.ts";
import type { Store } from "../../../../src/stores/contract/store.ts";
import { byMessage, say, step } from "../../../contracts/store-setup.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { someGroup } from "../../../support/some-group.ts";
import { ofMember } from "../../../support/lineages.ts";

const family = someGroup("family", { channel: "terminal", chat: "chat" });
const main = someGroup("main", { channel: "terminal", chat: "home", main: true });
const noLimit: BudgetLimits = { usdPerDay: undefined, tokensPerDay: undefined };

/** A turn of the family that this member made begin. */
async function turnOf(store: Store, member: string): Promise<string> {
  const { id: session } = await store.sessions.open(`main:${member}`, "family");
  const said = say(`of-${member}`, { sender: { id: member, name: member } });
  const { seq } = await store.messages.insert(said, { group: "family", state: "waiting", at: 1 });
  const first = step("hello", { messages: [seq], cursor: seq, lineage: ofMember });
  await store.turns.begin({ id: `t-${member}`, session, group: "family", conversation: 1, ...byMessage, at: 1 }, first);
  return `t-${member}`;
}

async function call(store: Store, day: string, group: string, used: Partial<CallUsage>): Promise<void> {
  const limits = { groupLimits: noLimit, totalLimits: noLimit };
  const answer = await store.usage.reserve({ group, day, tokens: 1, usd: 0, ...limits });
  const whole = { model: "m", turn: undefined, inputTokens: 1_000, outputTokens: 500, usd: 0, ...used };
  if (answer.granted) await store.usage.settle(answer.reservation, whole);
}

async function fill(store: Store): Promise<void> {
  const [ann, bea] = [await turnOf(store, "ann"), await turnOf(store, "bea")];
  await call(store, "2026-01-15", "family", { turn: ann, usd: 0.1 });
  await call(store, "2026-01-15", "family", { turn: bea, usd: 0.3 });
  await call(store, "2026-01-09", "family", { turn: ann, usd: 0.4 });
  await call(store, "2026-01-08", "family", { turn: ann, usd: 9 });
  await call(store, "2026-01-15", "work", { usd: 1.2 });
  await call(store, "2026-01-15", "work", { usd: undefined });
}

const now = (): number => Date.parse("2026-01-15T12:00:00Z");

/** Answer for Ann in this group at noon on January 15. */
async function ask(store: Store, group: Group, limits: Partial<BudgetLimits> = {}): Promise<string> {
  const needs = {
    store,
    groups: { list: () => [family, main] },
    clock: { now },
    budgetOf: (name?: string) => (name === undefined ? { ...noLimit, usdPerDay: 5 } : { ...noLimit, ...limits }),
  };
  const services = { operations: () => needs, publish: async () => undefined, roles: { keysOf: () => [] }, now };
  const message = {
    ...say("/usage"),
    chat: group.chat,
    seq: 1,
    group: group.name,
    state: "handled",
    receivedAt: 1,
  } as const;
  const pending = { command: "usage", argument: undefined, message: { ...message, quote: undefined, turn: undefined } };
  const asker = { role: "member", why: "", person: undefined, keys: [] } as const;
  const given = { group, pending, asker, commands: [], agentName: "crab" };
  const usage = commandsOf(group).find(({ name }) => name === "usage");
  const outcome = await usage?.run(given, services as unknown as CommandServices);
  return String(outcome?.text);
}

test("a group is told what it has used today and in 7 days, of which budget, and the asker's share, and nothing of others", async () => {
  await using home = await openTestStore();
  await fill(home.store);

  expect(await ask(home.store, family, { usdPerDay: 0.5, tokensPerDay: 10_000 })).toBe(
    [
      "Usage of group family, days in UTC.",
      "Today: 2 calls, 3,000 tokens, $0.40 (80 % of $0.50 a day, 30 % of 10,000 tokens a day).",
      "Last 7 days: 3 calls, 4,500 tokens, $0.80.",
      "Your share: today $0.10 (25 %), last 7 days $0.50 (63 %).",
    ].join("\n"),
  );
});

test("a main group is told about all groups together, and of each", async () => {
  await using home = await openTestStore();
  await fill(home.store);

  expect(await ask(home.store, main)).toBe(
    [
      "Usage of group main, days in UTC.",
      "Today: 0 calls, 0 tokens, $0.00.",
      "Last 7 days: 0 calls, 0 tokens, $0.00.",
      "Your share: today $0.00 (0 %), last 7 days $0.00 (0 %).",
      "All groups together:",
      "Today: 4 calls, 6,000 tokens, $1.60 and 1 call of unknown price (32 % of $5.00 a day).",
      "Last 7 days: 5 calls, 7,500 tokens, $2.00 and 1 call of unknown price.",
      "Last 7 days by group: work $1.20 (2 calls), family $0.80 (3 calls).",
    ].join("\n"),
  );
});

test("where nothing has a price, the asker's share is that of the tokens", async () => {
  await using home = await openTestStore();
  const ann = await turnOf(home.store, "ann");
  await call(home.store, "2026-01-15", "family", { turn: ann });
  await call(home.store, "2026-01-15", "family", { inputTokens: 3_000, outputTokens: 1_500 });

  expect(await ask(home.store, family)).toContain("Your share: today $0.00 (25 %), last 7 days $0.00 (25 %).");
});

test("where several agents have worked, each is told with what it has used", async () => {
  await using home = await openTestStore();
  await fill(home.store);
  const { id: session } = await home.store.sessions.open("scout:terminal:chat", "family");
  const about = { id: "t-scout", session, group: "family", conversation: 1, cause: "api", at: 1 } as const;
  await home.store.turns.begin({ ...about, replyTo: { kind: "nowhere" } }, step("look"));
  await call(home.store, "2026-01-15", "family", { turn: "t-scout", usd: 1 });

  expect(await ask(home.store, family)).toContain(
    "\nLast 7 days by agent: scout $1.00 (1 call), main $0.80 (3 calls).",
  );
});
