import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { groupTemplates } from "../../../../src/config/home/group-folders.ts";
import { MemoryFile } from "../../../../src/abilities/memory/file/memory-file.ts";
import { checkoutFolder } from "../../../support/engine.ts";
import { nameOf, openErasableHome, putFile } from "../../../support/erasable-home.ts";
import type { NewMemory } from "../../../../src/processes/memory-schemas.ts";
import { ofMember } from "../../../support/lineages.ts";

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
  const quote = { id: "id-1", author: { id: "ann", name: "NameANN" }, text: "my locker code is kumquat-8271" };
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

test("a group's other agents, notes for all and damaged memories hold nothing of theirs afterwards", async () => {
  await using home = await openErasableHome();
  const { memory: folder, groups, groupSkills } = home.paths;
  await home.hear({ who: "ann", text: "I keep alpacas in Tyrol", file: "alpaca.txt", agents: ["crab", "helper"] });
  await home.hear({ who: "bob", text: "the fair is on Sunday", agents: ["helper"] });
  const core = { category: "core", origin: "agent" } as const;
  {
    using helper = MemoryFile.open(join(folder, "family@helper.sqlite"));
    helper.put([
      remembered("said-1", "an old word: quagmire", ["ann"]),
      remembered("said-2", "Sunday has a picnic", ["bob"]),
      remembered("note-1", "Mind the alpacas", [], core),
      remembered("note-2", "The fair needs cake", ["bob"], core),
      remembered("day-2026-01-15", "Bob told about the fair, somebody of livestock", ["bob", "ann"], {
        category: "daily",
      }),
      remembered("fact-1", "NameANN likes the fair", ["bob", "ann"], { category: "core" }),
    ]);
    using own = MemoryFile.open(join(folder, "family.sqlite"));
    own.put([
      remembered("said-1", "about a picnic, too", ["ann"]),
      remembered("note-1", "Bring a picnic", [], core),
      remembered("note-2", "The quagmire is deep", [], core),
    ]);
    using forAll = MemoryFile.open(join(folder, "global.sqlite"));
    forAll.put([
      remembered("note-1", "The family has alpacas", ["bob"], core),
      remembered("note-2", "The fair is near", ["bob"], core),
      remembered("note-3", "The office opens at nine", ["ann"], core),
    ]);
  }
  const damaged = ["family", "family@helper", "global", "club"].map((name) => `${name}.sqlite.damaged-1`);
  for (const name of damaged) await writeFile(join(folder, name), name.startsWith("club") ? "thimbles" : "alpacas");
  await putFile(home.paths, "family@helper", { name: join("inbox", "alpaca.txt"), text: "copied alpacas" });
  await putFile(home.paths, "family@helper", { name: "notes.md", text: "NameANN: alpacas" });
  await mkdir(join(groupSkills, "family", "herd"), { recursive: true });
  await writeFile(join(groupSkills, "family", "herd", "SKILL.md"), "feed the alpacas");

  const looked = await home.eraser.look(ann);
  const done = await home.eraser.erase(ann, "operator");

  expect(looked).toMatchObject({ groups: ["family"], erased: { messages: 1 } });
  expect(done).toMatchObject({ groups: ["family"], erased: { messages: 1, memories: 8, files: 5 }, left: [] });
  expect(done.files).toEqual([
    join("groups", "family@helper", "notes.md"),
    join("group-skills", "family", "herd", "SKILL.md"),
  ]);
  expect((await home.find("alpacas")).toSorted()).toEqual(
    [join(groups, "family@helper", "notes.md"), join(groupSkills, "family", "herd", "SKILL.md")].toSorted(),
  );
  expect(await home.find("quagmire")).toEqual([]);
  expect(await home.find("thimbles")).toEqual([join(folder, "club.sqlite.damaged-1")]);
  const kept = ["family", "family@helper", "global"].map((name) => {
    using file = MemoryFile.open(join(folder, `${name}.sqlite`));
    return file
      .list({ limit: 10 })
      .map(({ id }) => id)
      .toSorted();
  });
  // Another one has spoken of the picnic, though only the other agent has heard it.
  expect(kept).toEqual([["note-1"], ["note-2", "said-2"], ["note-2"]]);
});

test("what a folder was copied with is listed only where it was changed", async () => {
  await using home = await openErasableHome();
  const [, template] = groupTemplates(checkoutFolder);
  const untouched = await readFile(join(template, "AGENTS.md"), "utf8");
  await putFile(home.paths, "family", { name: "AGENTS.md", text: untouched });
  await putFile(home.paths, "family@helper", { name: "AGENTS.md", text: `${untouched}And more.` });
  // Three words in a row of it.
  await home.hear({ who: "ann", text: "these are the instructions that you mean" });

  const { files } = await home.eraser.erase({ channel: "fake", id: "ann" }, "operator");
  expect(files).toEqual([join("groups", "family@helper", "AGENTS.md")]);
});

test("by one id of a channel that knows people by two, what came by the other goes as well", async () => {
  await using home = await openErasableHome();
  const { aliases, store } = home;
  await aliases.of("fake", store.channelState, () => []).same([{ id: "77@lid", alias: "ann-work" }]);
  await home.hear({ who: "77@lid", text: "a word by number: kumquat" });
  await home.hear({ who: "ann", text: "a word by name: zucchini" });

  const { ids, left } = await home.eraser.erase({ channel: "fake", id: "77@lid" }, "operator");

  expect(ids.toSorted()).toEqual(["fake:77@lid", "fake:ann", "fake:ann-work"]);
  expect(left).toEqual([]);
  for (const word of ["kumquat", "zucchini"]) expect(await home.find(word)).toEqual([]);
  // Rules for one id count for the other one still.
  expect(aliases.keysOf({ channel: "fake", id: "77@lid" })).toEqual(["fake:ann-work"]);
});

test("an erasure that was cut off is ended by whichever id of the person", async () => {
  await using home = await openErasableHome();
  await home.hear({ who: "ann", text: "marmalade please" });
  await home.eraser.erase({ channel: "fake", id: "ann-work" }, "operator");
  await home.eraser.erase(ann, "operator").catch(() => {});
  const digests = home.published.map(({ data }) => (data as { readonly digest: string }).digest);
  expect(new Set(digests).size).toBe(1);
});

test.each([
  ["characters that are not seen", "kum\u200bqu\u00adat", "kumquat"],
  ["letters that look like others", "kumqu\u0430t", "kumquat"],
  ["characters that the agent puts in", "kumquat", "kum\u2060quat"],
])("words are found in spite of %s", async (_what, said, repeated) => {
  await using home = await openErasableHome();
  const one = await home.hear({ who: "ann", text: `my word is ${said}` });
  const two = await home.hear({ who: "bob", text: "rhubarb" });
  await home.answer([one, two], { text: `It is ${repeated}.`, result: "rhubarb" });

  await home.eraser.erase(ann, "operator");

  expect(await home.find(said)).toEqual([]);
  expect(await home.find(repeated)).toEqual([]);
});

test("who takes the name and the words of another one takes nothing of that one's along", async () => {
  await using home = await openErasableHome();
  const one = await home.hear({ who: "bob", text: "the parsnips are in the cellar" });
  await home.answer([one], { text: "Parsnips in the cellar, noted.", result: "parsnips" });
  const path = join(home.paths.memory, "family.sqlite");
  {
    using file = MemoryFile.open(path);
    const named = { sender: nameOf("ann") };
    file.put([remembered("said-1", "the parsnips are in the cellar", ["bob"], named)]);
    file.put([remembered("said-2", "the p\u0430rsnips are in the cel\u200blar", ["ann"])]);
  }
  await home.hear({ who: "ann", text: "the p\u0430rsnips are in the cel\u200blar" });
  const before = (await home.store.turns.list({ limit: 10 })).map(({ id }) => id);

  const { erased } = await home.eraser.erase(ann, "operator");

  expect(erased).toEqual({ messages: 1, memories: 1 });
  expect(await home.find("Parsnips in the cellar, noted.")).toEqual([home.paths.database]);
  expect(before).toHaveLength(1);
  using file = MemoryFile.open(path);
  expect(file.list({ limit: 10 }).map(({ id }) => id)).toEqual(["said-1"]);
});

test("somebody who is not known, and a turn that has not ended, are said before anything is erased", async () => {
  await using home = await openErasableHome();
  const { store, eraser } = home;
  await expect(eraser.erase({ channel: "fake", id: "zed" }, "operator")).rejects.toMatchObject({ code: "not_found" });
  const seq = await home.hear({ who: "ann", text: "marmalade please" });
  const { id: session } = await store.sessions.open("agent:fake:family", "family");
  const replyTo = { kind: "chat", channel: "fake", chat: "family" } as const;
  const begins = { id: "t", session, group: "family", conversation: 1, cause: "message", replyTo, at: 1 } as const;
  const takes = { messages: [seq], cursor: seq, lineage: ofMember };
  await store.turns.begin(begins, { body: { kind: "user", text: "x" }, tokens: 1, at: 1, takes });

  await expect(eraser.erase(ann, "operator")).rejects.toMatchObject({ code: "conflict" });

  expect(await home.find("marmalade")).not.toEqual([]);
  expect(home.published).toEqual([]);
});

const speaker = fc.constantFrom("ann", "bob", "cy");
const turn = fc.record({
  said: fc.array(fc.record({ who: speaker, count: fc.integer({ min: 1, max: 4 }) }), { minLength: 1, maxLength: 4 }),
  /** Positions of earlier messages that the agent repeats. */
  echoes: fc.array(fc.nat(50), { maxLength: 3 }),
  group: fc.constantFrom("family", "club"),
  /**
   * For how many agents of the group the words are; the last one keeps them in its own memory, with what it made
   * of them.
   */
  agents: fc.integer({ min: 1, max: 3 }),
});

/** Stores memories of another agent and global notes. */
function remember(
  folder: string,
  { group, number, echo, heard }: { group: string; number: number; echo: string; heard: readonly NewMemory[] },
): void {
  const note = remembered(`note-${group}-${number}`, `of ${echo}`, [], { origin: "agent", category: "core" });
  using helper = MemoryFile.open(join(folder, `${group}@helper.sqlite`));
  helper.put([note, ...heard]);
  using forAll = MemoryFile.open(join(folder, "global.sqlite"));
  forAll.put([note]);
}

test(
  "in any home, no file holds a word of hers afterwards, and each word of the others is where it was",
  { timeout: 540_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 5 }), async (turns) => {
        await using home = await openErasableHome();
        const words: Record<string, string[]> = { ann: [], bob: [], cy: [] };
        const inGroup: Record<string, string[]> = { family: [], club: [] };
        let number = 0;
        for (const { said, echoes, group, agents } of turns) {
          const seqs: number[] = [];
          const heard: NewMemory[] = [];
          for (const { who, count } of said) {
            const mine = Array.from({ length: count }, () => `${who}word${(number += 1)}x`);
            words[who]?.push(...mine);
            inGroup[group]?.push(...mine);
            const text = `so ${mine.join(" <b>&</b> ")}`;
            seqs.push(await home.hear({ who, group, text, agents: ["crab", "helper", "other"].slice(0, agents) }));
            heard.push(remembered(`said-${number}`, text, [who]));
          }
          const known = inGroup[group] ?? [];
          const echo = echoes.map((index) => known[index % known.length]).join(", ");
          await home.answer(seqs, { text: `I heard ${echo}`, input: `note ${echo}`, result: `wrote ${echo}` });
          if (agents > 1) remember(home.paths.memory, { group, number, echo, heard });
        }
        fc.pre(words["ann"]?.length !== 0);

        const { left } = await home.eraser.erase(ann, "operator");

        expect(left).toEqual([]);
        const found = await home.findEach(Object.values(words).flat());
        for (const word of words["ann"] ?? []) expect([word, found.get(word)]).toEqual([word, []]);
        for (const word of ["bob", "cy"].flatMap((who) => words[who] ?? []))
          expect([word, found.get(word)]).toEqual([word, expect.arrayContaining([home.paths.database])]);
      }),
      { numRuns: 12 },
    );
  },
);
