import { join } from "node:path";

import { expect, test } from "vitest";

import { GroupMemory } from "../../../../src/abilities/memory/group-memory.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const weights = { vector: 0.5, text: 0.5, neighbour: 0.3 };
const count = 6_000;
const names = "garden boat piano recipe train budget kitten mountain wedding printer".split(" ");

test("while the index of a large memory is taken in by slices, words are found in the file", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "office.sqlite");
  const open = (indexMs?: number): GroupMemory => new GroupMemory({ path, weights, indexMs, hotRows: count - 1_000 });
  {
    await using first = open();
    const texts = Array.from({ length: count }, (_, at) => `the ${names[at % 10]} was number ${at}, and nobody minded`);
    const said = { category: "conversation", sender: "Ann", origin: "member", sources: [] } as const;
    first.add(texts.map((text, at) => ({ ...said, id: `m${at}`, text, time: at * 1_000 })));
  }
  await using memory = open(0);
  const idsOf = async (query: string): Promise<string[]> =>
    (await memory.search(query, { limit: 1 })).map((one) => one.memory.id);

  const looking = idsOf("number 5991");
  const isWhole = memory.rows === count - 1_000;
  const cold = [await looking, isWhole, await idsOf("17")];
  await memory.warm();
  const warm = [await idsOf("17"), await idsOf("number 5991"), memory.rows];
  memory.forget(["m5991"]);

  expect(cold).toEqual([["m5991"], false, ["m17"]]);
  expect(warm).toEqual([["m17"], ["m5991"], count - 1_000]);
  expect(await idsOf("number 5991")).not.toContain("m5991");
});
