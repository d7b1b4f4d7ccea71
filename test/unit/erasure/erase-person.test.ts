import { join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { MemoryFile } from "../../../src/memory/file/memory-file.ts";
import type { NewMemory } from "../../../src/memory/item.ts";
import { nameOf, openErasableHome, putFile } from "../../support/erasable-home.ts";

const ann = { channel: "fake", id: "ann" };

function remembered(id: string, text: string, who: readonly string[], more: Partial<NewMemory> = {}): NewMemory {
  const people = who.map((one) => `fake:${one}`);
  const sender = who[0] === undefined ? "crab" : nameOf(who[0]);
  return { id, category: "conversation", text, time: 1, sender, origin: "member", sources: [], people, ...more };
}

test("what somebody said is gone as bytes, and what others said is there", async () => {
  await using home = await openErasableHome();
  const { store, eraser } = home;
  const one = await home.hear({ who: "ann", text: "my locker code is kumquat-8271", file: "letter.txt" });
  await home.answer([one], {
    text: "The code kumquat-8271 is noted.",
    input: "echo kumquat-8271",
    result: "kumquat-8271",
  });
  const quote = { id: "id-1", author: "NameANN", text: "my locker code is kumquat-8271" };
  const two = await home.hear({ who: "bob", text: "parsnips for me", quote });
  await home.answer([two], { text: "Parsnips, and kumquat-8271 for the locker.", result: "a list with turnips" });
  const three = await home.hear({ who: "ann-work", text: "zucchini from my other phone" });
  const four = await home.hear({ who: "bob", text: "and rhubarb" });
  await home.answer([three, four], { text: "Rhubarb it is." });
  await putFile(home.paths, "family", { name: "notes.md", text: "NameANN: kumquat-8271" });

  const state = {
    names: new Map([["ann", Buffer.from("NameANN")]]),
    sent: new Map([["1", Buffer.from("\u0001\u0012kumquat-8271.")]]),
  };
  const others = new Map([["2", Buffer.from("Rhubarb it is.")]]);
  await store.channelState.apply("fake/1/names", state.names);
  await store.channelState.apply("fake/1/sent", new Map([...state.sent, ...others]));
  const looked = await eraser.look(ann);
  const done = await eraser.erase(ann, "operator");

  expect(looked.erased).toEqual({ messages: 2 });
  expect(done).toMatchObject({ ids: ["fake:ann", "fake:ann-work"], groups: ["family"], left: [] });
  expect(done.erased).toEqual({ messages: 2, files: 1, steps: 7, replies: 3, quotes: 1, names: 1 });
  expect([...(await store.channelState.list("fake/1/sent")).keys()]).toEqual(["2"]);
  // The agent's own notes are its own; they are named.
  expect(done.files).toEqual([join("groups", "family", "notes.md")]);
  expect(await home.find("kumquat")).toEqual([join(home.paths.groups, "family", "notes.md")]);
  expect(await home.find("zucchini")).toEqual([]);
  expect(await home.find("NameANN")).toEqual([join(home.paths.groups, "family", "notes.md")]);
  for (const word of ["parsnips for me", "and rhubarb", "Rhubarb it is.", "a list with turnips"])
    expect(await home.find(word)).toEqual([home.paths.database]);
  const steps = JSON.stringify(await store.turns.steps((await store.turns.list({ limit: 10 }))[0]?.id ?? ""));
  expect(steps).toContain("[erased]</message>");
  expect(steps).toContain("and rhubarb</message>");
  expect(home.published.map(({ type }) => type)).toEqual(["person.erasing", "person.erased"]);
  expect(JSON.stringify(home.published)).not.toContain("ann");
  // It is known still: one that comes again is no new message.
  const again = {
    channel: "fake",
    chat: "family",
    id: "id-1",
    sender: { id: "ann", name: "Ann" },
    text: "again",
    mention: false,
  };
  expect(await store.messages.insert(again, { group: "family", state: "waiting", at: 99 })).toMatchObject({
    duplicate: true,
  });
});

test("memories of theirs go, and a fact stays that somebody else has said too", async () => {
  await using home = await openErasableHome();
  await home.hear({ who: "ann", text: "I keep alpacas in Tyrol" });
  await home.hear({ who: "bob", text: "the fair is on Sunday" });
  const path = join(home.paths.memory, "family.sqlite");
  {
    using file = MemoryFile.open(path);
    file.put([
      remembered("said-1", "I keep alpacas in Tyrol", ["ann"]),
      remembered("said-2", "the fair is on Sunday", ["bob"]),
      remembered("said-3", "an old word: quagmire", ["ann"]),
      remembered("fact-1", "NameANN has alpacas", ["ann"], { category: "core" }),
      remembered("fact-2", "The fair is on Sunday", ["bob", "ann"], { category: "core", sources: ["id-2", "id-1"] }),
      remembered("fact-3", "The fair has alpacas", ["bob", "ann"], { category: "core" }),
      remembered("said-4", "Do mind the quagmire", [], { origin: "agent" }),
      remembered("said-5", "See you on Sunday", [], { origin: "agent" }),
    ]);
  }

  const { erased } = await home.eraser.erase(ann, "operator");

  using file = MemoryFile.open(path);
  expect(
    file
      .list({ limit: 10 })
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(["fact-2", "said-2", "said-5"]);
  expect(file.get("fact-2")).toMatchObject({ people: ["fake:bob"], sources: ["id-2"] });
  expect(erased.memories).toBe(5);
  for (const word of ["alpacas", "quagmire", "fake:ann"]) expect(await home.find(word)).toEqual([]);
  expect(await home.find("fair is on Sunday")).not.toEqual([]);
});

test("somebody who is not known, and a turn that has not ended, are said before anything is erased", async () => {
  await using home = await openErasableHome();
  const { store, eraser } = home;
  await expect(eraser.erase({ channel: "fake", id: "zed" }, "operator")).rejects.toMatchObject({ code: "not_found" });
  const seq = await home.hear({ who: "ann", text: "marmalade please" });
  const { id: session } = await store.sessions.open("agent:fake:family", "family");
  const replyTo = { kind: "chat", channel: "fake", chat: "family" } as const;
  const begins = { id: "t", session, group: "family", conversation: 1, cause: "message", replyTo, at: 1 } as const;
  const takes = { messages: [seq], cursor: seq };
  await store.turns.begin(begins, { body: { kind: "user", text: "x" }, tokens: 1, at: 1, takes });

  await expect(eraser.erase(ann, "operator")).rejects.toMatchObject({ code: "conflict" });

  expect(await home.find("marmalade")).not.toEqual([]);
  expect(home.published).toEqual([]);
});

const speaker = fc.constantFrom("ann", "bob", "cy");
const turn = fc.record({
  said: fc.array(fc.record({ who: speaker, count: fc.integer({ min: 1, max: 4 }) }), { minLength: 1, maxLength: 4 }),
  /** Whose words the agent repeats, of what was said in the group so far. */
  echoes: fc.array(fc.nat(50), { maxLength: 3 }),
  group: fc.constantFrom("family", "club"),
});

test("in any home, no file holds a word of hers afterwards, and each word of the others is where it was", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 5 }), async (turns) => {
      await using home = await openErasableHome();
      const words: Record<string, string[]> = { ann: [], bob: [], cy: [] };
      const inGroup: Record<string, string[]> = { family: [], club: [] };
      let number = 0;
      for (const { said, echoes, group } of turns) {
        const seqs: number[] = [];
        for (const { who, count } of said) {
          const mine = Array.from({ length: count }, () => `${who}word${(number += 1)}x`);
          words[who]?.push(...mine);
          inGroup[group]?.push(...mine);
          seqs.push(await home.hear({ who, group, text: `so ${mine.join(" <b>&</b> ")}` }));
        }
        const known = inGroup[group] ?? [];
        const echo = echoes.map((index) => known[index % known.length]).join(", ");
        await home.answer(seqs, { text: `I heard ${echo}`, input: `note ${echo}`, result: `wrote ${echo}` });
      }
      fc.pre(words["ann"]?.length !== 0);

      const { left } = await home.eraser.erase(ann, "operator");

      expect(left).toEqual([]);
      for (const word of words["ann"] ?? []) expect([word, await home.find(word)]).toEqual([word, []]);
      for (const word of [...(words["bob"] ?? []), ...(words["cy"] ?? [])])
        expect([word, await home.find(word)]).toEqual([word, [home.paths.database]]);
    }),
    { numRuns: 12 },
  );
});
