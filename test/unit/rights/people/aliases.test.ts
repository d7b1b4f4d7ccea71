import * as fc from "fast-check";
import { expect, test } from "vitest";

import { Aliases, type IdForms } from "../../../../src/rights/people/aliases.ts";
import type { ChannelStateStore } from "../../../../src/stores/contract/store.ts";
import { openTestStore } from "../../../support/open-test-store.ts";

/** A channel on which `n5` is written `+5`, and people have letters, too. */
const forms: IdForms = {
  name: "phone",
  canonicalId: (id) => id.replace(/^\+/, "n"),
  writtenId: (id) => (id.startsWith("n") ? id.replace("n", "+") : undefined),
};

const whoIs = (id: string) => ({ channel: "phone", id });
const keys = (aliases: Aliases, id: string): string[] => aliases.keysOf(whoIs(id)).toSorted();

async function openRig() {
  const home = await openTestStore();
  const state = home.store.channelState;
  const load = () => Aliases.load(state, [forms], ["phone"]);
  return { state, load, aliases: await load(), [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

const portOf = (aliases: Aliases, state: Pick<ChannelStateStore, "apply">, named: string[] = []) =>
  aliases.of("phone", state, () => named);

test("whichever way somebody is named, all other ways are known, also after a restart", async () => {
  await using rig = await openRig();

  await portOf(rig.aliases, rig.state).same([{ id: "ann", alias: "n5" }]);

  for (const aliases of [rig.aliases, await rig.load()]) {
    expect(keys(aliases, "ann")).toEqual(["phone:+5", "phone:n5"]);
    expect(keys(aliases, "n5")).toEqual(["phone:+5", "phone:ann"]);
    expect(keys(aliases, "+5")).toEqual(["phone:ann", "phone:n5"]);
    expect(keys(aliases, "+6")).toEqual(["phone:n6"]);
    expect([keys(aliases, "ben"), aliases.keysOf({ channel: "other", id: "ann" })]).toEqual([[], []]);
  }
});

test("an id has one alias: what is said last holds, and is all that is kept", async () => {
  await using rig = await openRig();
  const port = portOf(rig.aliases, rig.state);

  await port.same([{ id: "ann", alias: "n5" }]);
  await port.same([
    { id: "ben", alias: "n6" },
    { id: "ben", alias: "n5" },
  ]);

  for (const aliases of [rig.aliases, await rig.load()]) {
    expect([keys(aliases, "ann"), keys(aliases, "n6")]).toEqual([[], ["phone:+6"]]);
    expect(keys(aliases, "ben")).toEqual(["phone:+5", "phone:n5"]);
  }
  expect([...(await rig.state.list("phone/aliases")).keys()]).toEqual(["ben"]);
});

test("what was told in whatever order, memory and disk agree, and nobody is two people", async () => {
  const pair = fc.record({ id: fc.constantFrom("a", "b", "c"), alias: fc.constantFrom("n1", "n2", "n3", "a") });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(pair, { maxLength: 3 }), { maxLength: 5 }), async (batches) => {
      await using rig = await openRig();
      const port = portOf(rig.aliases, rig.state);
      for (const batch of batches) await port.same(batch);
      const loaded = await rig.load();

      for (const id of ["a", "b", "c", "n1", "n2", "n3"]) {
        expect(keys(loaded, id)).toEqual(keys(rig.aliases, id));
        const others = keys(loaded, id).filter((key) => !key.includes("+"));
        expect(others.length).toBeLessThan(2);
        for (const other of others) expect(keys(loaded, other.replace("phone:", ""))).toContain(`phone:${id}`);
      }
    }),
    { numRuns: 40 },
  );
});

test("what could not be stored is not believed, and stored when it is told again; what is known costs no write", async () => {
  await using rig = await openRig();
  let isFull = true;
  let writes = 0;
  const state = {
    apply: async (...change: Parameters<ChannelStateStore["apply"]>) => {
      writes += 1;
      if (isFull) throw new Error("the disk is full");
      await rig.state.apply(...change);
    },
  };
  const port = portOf(rig.aliases, state);
  const pairs = [{ id: "ann", alias: "n5" }];

  await expect(port.same(pairs)).rejects.toThrow("full");
  expect(keys(rig.aliases, "ann")).toEqual([]);
  isFull = false;
  await port.same(pairs);
  await port.same(pairs);

  expect([writes, keys(await rig.load(), "ann")]).toEqual([2, ["phone:+5", "phone:n5"]]);
});

test("a channel is told which named ids nothing else is known of; whether two may be one person's follows from that", async () => {
  await using rig = await openRig();
  const port = portOf(rig.aliases, rig.state, ["+5", "+6", "n6", "ann"]);
  const maybe = (one: string, other: string) => rig.aliases.mayBeSame(whoIs(one), whoIs(other));

  expect(port.open()).toEqual(["n5", "n6", "ann"]);
  expect([maybe("zoe", "+5"), maybe("n7", "+5"), maybe("zoe", "ann")]).toEqual([true, false, false]);
  await port.same([{ id: "ann", alias: "n5" }]);
  expect(port.open()).toEqual(["n6"]);
  expect([maybe("zoe", "+5"), maybe("ann", "+6"), maybe("zoe", "+6")]).toEqual([false, false, true]);
  port.none(["n6"]);
  expect([port.open(), maybe("zoe", "+6")]).toEqual([["n6"], false]);
});
