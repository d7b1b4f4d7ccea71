import { expect, test } from "vitest";

import { sourced } from "../../../src/domain/rights/sourced.ts";
import type { Summary } from "../../../src/domain/turns/summary.ts";
import type { Turn } from "../../../src/domain/turns/turn.ts";
import { ShownConversations } from "../../../src/turns/compaction/shown-conversation.ts";
import type { ConversationScope } from "../../../src/turns/turn-scope.ts";
import { byMessage, step } from "../../contracts/store-setup.ts";
import { openTestStore } from "../../support/open-test-store.ts";

const summary: Summary = {
  kind: "summary",
  fromStep: 1,
  toStep: 1,
  fromEntry: 1,
  toEntry: 1,
  text: "It was about tea.",
  tokens: 9,
  model: "a/b",
  madeAt: 1,
  origins: ["web"],
};

test("a turn has read its system prompt, its tools and its summaries before its model has", async () => {
  await using home = await openTestStore();
  const { store } = home;
  const session = await store.sessions.open("agent:terminal:chat:parent", "family", { kind: "agent" });
  const about = { id: "t", session: session.id, group: "family", conversation: 1, ...byMessage, at: 1 };
  const { turn } = await store.turns.begin(about, step("go on"));
  const shown = new ShownConversations({
    store,
    offered: { of: async () => ({ definitions: [{ name: "x", description: "", inputSchema: {}, origins: ["mcp"] }] }) },
    prompts: { systemOf: async () => [sourced("You are crab.", ["guest"])], renew: async () => [] },
    before: async () => ({ cover: [summary], steps: [] }),
    clearing: { shown: (_session, steps) => steps },
    pictures: { retire: async () => undefined, shown: async (_session, steps) => steps },
  });
  const scope = (of: Turn) => ({ turn: of, session, group: { name: "family" } }) as unknown as ConversationScope;

  const { system } = await shown.of(scope(turn));

  expect(system).toEqual(["You are crab."]);
  expect((await store.origins.lineage("t")).origins).toEqual(expect.arrayContaining(["guest", "web", "mcp"]));
});
