import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { IncomingMessage } from "../../../src/domain/chats/message.ts";
import { addresseeOf, agentsOf, isAddressee, overlaps } from "../../../src/domain/turns/session.ts";
import { agentsMeant } from "../../../src/intake/addressing/agents-meant.ts";
import { say } from "../../contracts/store-setup.ts";

const names = [
  { id: "main", name: "crab" },
  { id: "scout", name: "Ranger" },
  { id: "clerk", name: "clerk" },
];

function meant(text: string, more: Partial<IncomingMessage> = {}, author?: string): Promise<readonly string[]> {
  const sessionOf = async () => (author === undefined ? undefined : `${author}:terminal:chat`);
  return agentsMeant({ names, sessionOf }, say("1", { text, ...more }));
}

test("a message is for all agents that it names; else for the one that it replies to; else for the first one", async () => {
  const quote = { id: "7" };

  expect(await meant("hello")).toEqual(["main"]);
  expect(await meant("@ranger, and @CRAB")).toEqual(["main", "scout"]);
  expect(await meant("@rangers", { mention: true })).toEqual(["main"]);
  expect(await meant("@Ranger hello", { mention: true })).toEqual(["scout"]);
  expect(await meant("and you?", { quote }, "clerk")).toEqual(["clerk"]);
  expect(await meant("@crab, is that so?", { quote }, "clerk")).toEqual(["main"]);
  expect(await meant("and you?", { quote }, "gone")).toEqual(["main"]);
  expect(await meant("and you?", { quote })).toEqual(["main"]);
  expect(await meant("@Ranger said so", { forwarded: true })).toEqual(["main"]);
});

const ids = fc.uniqueArray(fc.constantFrom("main", "a", "b", "c"), { minLength: 1 });

test("whatever agents a group has, each message is one agent's, and agents of one group share none", () => {
  fc.assert(
    fc.property(ids, fc.option(fc.constantFrom("main", "a", "b", "c", "gone"), { nil: undefined }), (all, agent) => {
      const group = { agent: all[0] === "main" ? undefined : all[0], agents: all.length > 1 ? all : undefined };
      const addressees = agentsOf(group).flatMap((id) => addresseeOf(group, id) ?? []);
      expect(addressees).toHaveLength(all.length);
      expect(addressees.filter((addressee) => isAddressee(addressee, agent))).toHaveLength(1);
      for (const [index, one] of addressees.entries())
        for (const other of addressees.slice(index + 1)) expect(overlaps(one, other)).toBe(false);
    }),
  );
});

function addresseeIn(all: readonly string[], index: number) {
  const agent = all[index % all.length] ?? "";
  return addresseeOf({ agent: all[0], agents: all }, agent) ?? { only: agent };
}

test("two agents overlap exactly where there can be a message for both", () => {
  const agents = ["main", "a", "b", "c", undefined, "gone"];
  fc.assert(
    fc.property(ids, ids, fc.nat(3), fc.nat(3), (before, now, one, other) => {
      const [first, second] = [addresseeIn(before, one), addresseeIn(now, other)];
      const shared = agents.some((agent) => isAddressee(first, agent) && isAddressee(second, agent));
      expect(overlaps(first, second)).toBe(shared);
    }),
  );
});
