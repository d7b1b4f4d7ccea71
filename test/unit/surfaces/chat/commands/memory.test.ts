import { expect, test } from "vitest";

import type { ChatMemory, CommandServices, GivenCommand } from "../../../../../src/surfaces/chat/command.ts";
import { memory } from "../../../../../src/surfaces/chat/commands/memory.ts";
import { ShownLists } from "../../../../../src/surfaces/chat/shown-lists.ts";
import type { Group } from "../../../../../src/domain/chats/group.ts";
import { someGroup } from "../../../../support/some-group.ts";

const family = someGroup("family", { channel: "fake", chat: "chat" });

function fact(id: string, text: string, people: readonly string[] = ["fake:ann"]): ChatMemory {
  return { id, category: "core", text, time: 0, sender: people[0]?.slice(5) ?? "", people };
}

/** A chat in which people type `/memory` behind these facts, which the test may change. */
function chatWith(
  facts: ChatMemory[],
  limits = { enabled: true },
  { group, memories }: { group: Group; memories: Record<string, ChatMemory[]> } = {
    group: family,
    memories: { family: facts },
  },
) {
  const of = (folder: string): ChatMemory[] => memories[folder] ?? [];
  const services = {
    memories: {
      isEnabled: () => limits.enabled,
      list: async (folder: string, { limit }: { limit: number }) => of(folder).slice(0, limit),
      get: async (folder: string, id: string) => of(folder).find((one) => one.id === id),
      forget: async (folder: string, id: string) => {
        const index = of(folder).findIndex((one) => one.id === id);
        return of(folder).splice(index, 1).length > 0;
      },
    },
    shownLists: new ShownLists(),
    roles: { keysOf: ({ id }: { id: string }) => (id === "ann" ? ["fake:ann", "fake:ann-work"] : [`fake:${id}`]) },
    showTime: () => "some day",
    agentNameOf: (_group: Group, agent: string) => agent,
  } as unknown as CommandServices;
  return async (who: string, argument?: string, role = "member"): Promise<string> => {
    const message = { channel: "fake", sender: { id: who, name: who } };
    const given = { group, pending: { argument, message }, asker: { role } } as unknown as GivenCommand;
    const { text } = await memory.run(given, services);
    return String(text);
  };
}

test("a number means what stood there when the list was shown, whatever has come since", async () => {
  const facts = [fact("b", "Ann has a boat"), fact("a", "Ann has a cat")];
  const say = chatWith(facts);
  expect(await say("ann", "forget 1")).toBe("Use /memory first: the number refers to that list.");
  expect(await say("ann")).toBe(
    '1. Ann has a boat (core, some day, "ann")\n2. Ann has a cat (core, some day, "ann")\nTo forget one: /memory forget N.',
  );

  facts.unshift(fact("c", "Ann has a dog"));
  expect(await say("ann", "forget 1")).toBe("Forgot number 1: Ann has a boat");
  expect(await say("ann", "forget 1")).toBe("Forgot number 1.");
  facts[1] = fact("a", "Ann has a lion");
  expect(await say("ann", "forget 2")).toBe("Number 2 has changed since it was shown. Use /memory again.");
  expect(await say("ann", "forget 3")).toBe("The list has 2 entries; there is no number 3.");

  expect(facts.map(({ text }) => text)).toEqual(["Ann has a dog", "Ann has a lion"]);
});

test("one of several agents is named for its list, and the number counts in the list that was shown last", async () => {
  const agents = { agent: "main", agents: ["main", "scout"] };
  const memories: Record<string, ChatMemory[]> = {
    family: [fact("a", "Ann has a cat")],
    "family@scout": [fact("a", "Ann has a boat")],
  };
  const say = chatWith([], { enabled: true }, { group: { ...family, ...agents }, memories });

  expect(await say("ann", "clerk")).toBe('There is no agent "clerk" here. There are main, scout.');
  expect(await say("ann")).toContain("What main remembers:\n1. Ann has a cat");
  expect(await say("ann", "Scout")).toContain("What scout remembers:\n1. Ann has a boat");
  expect(await say("ann", "forget 1")).toBe("Forgot number 1: Ann has a boat");
  expect(memories["family"]).toHaveLength(1);
  expect(memories["family@scout"]).toEqual([]);
  expect(await say("ann", "@scout")).toBe("scout remembers no facts yet.");
});

test("each member's numbers count in the list that they asked for", async () => {
  const facts = [fact("a", "Ann has a cat", ["fake:ann-work"]), fact("b", "Bob has a boat", ["fake:bob"])];
  const say = chatWith(facts);
  await say("ann");
  facts.reverse();
  await say("bob");

  expect(await say("ann", "forget 1")).toContain("Ann has a cat");
  // Who has seen only what the chat was shown means that.
  expect(await say("olga", "forget 1", "admin")).toContain("Bob has a boat");
});

test("only those whose words alone it holds, and admins, have something forgotten", async () => {
  const facts = [
    fact("a", "Ann and Bob sail", ["fake:ann", "fake:bob"]),
    fact("b", "It is ours", []),
    fact("c", "Ann sails"),
  ];
  const say = chatWith(facts);
  await say("bob");
  expect(await say("bob", "forget 1")).toBe("Only the person whose words it holds or an admin can forget number 1.");
  expect(await say("bob", "forget 2")).toBe("Only the operator or an admin can forget number 2.");
  expect(await say("bob", "forget 3")).toBe('Only "ann" or an admin can forget number 3.');
  expect(facts).toHaveLength(3);
  expect(await say("olga", "forget 1", "owner")).toContain("Forgot number 1");
});

test("the list is bounded, says so, and shows nothing that steers or mentions", async () => {
  const facts = Array.from({ length: 25 }, (_, index) => fact(`f${index}`, `@everyone *${"x".repeat(500)}\u202e`));
  const lines = (await chatWith(facts)("ann")).split("\n");

  expect(lines).toHaveLength(22);
  expect(lines[20]).toBe("These are the newest 20; there are more.");
  expect(lines[0]?.length).toBeLessThan(250);
  expect(lines[0]).toMatch(/^1\. at everyone x/);
  expect(await chatWith([])("ann")).toBe("I remember no facts yet.");
  expect(await chatWith([])("ann", "everything")).toBe(
    "Use /memory, or /memory forget N with a number from that list.",
  );
});
