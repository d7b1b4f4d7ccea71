import { join } from "node:path";

import { expect, test } from "vitest";

import { GroupMemory, type RecallOptions } from "../../../../src/abilities/memory/group-memory.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import type { NewMemory } from "../../../../src/processes/memory-schemas.ts";

const weights = { vector: 0.5, text: 0.5, neighbour: 0.3 };
const open = (folder: string): GroupMemory => new GroupMemory({ path: join(folder, "office.sqlite"), weights });
const said = (id: string, text: string): NewMemory => {
  return {
    id,
    text,
    category: "conversation",
    time: Date.parse("2026-01-01"),
    sender: "Ann",
    origin: "member",
    sources: [],
  };
};

test("what a turn will ask for is looked up ahead, and again where something has changed since or it is asked differently", async () => {
  await using folder = await temporaryFolder();
  await using memory = open(folder.path);
  await using other = open(folder.path);
  let looks = 0;
  const how = (name: string): RecallOptions => ({
    limit: 5,
    tokens: 500,
    name,
    isInSight: ({ id }) => {
      looks += 1;
      return id === "shown";
    },
  });
  const recalled = async (name: string): Promise<{ ids: string[]; isAhead: boolean }> => {
    await memory.foresee("red", how("turn"));
    if (name === "changed") memory.add([said("2", "a red boat")]);
    if (name === "forgotten") memory.forget(["1"]);
    if (name === "elsewhere") other.forget(["2"]);
    looks = 0;
    const found = await memory.recall("red", how(name === "otherwise" ? name : "turn"));
    return { ids: found.map((one) => one.memory.id).toSorted(), isAhead: looks === 0 };
  };
  memory.add([said("shown", "the red bicycle"), said("1", "a red kite")]);

  expect(await recalled("turn")).toEqual({ ids: ["1"], isAhead: true });
  expect(await recalled("otherwise")).toEqual({ ids: ["1"], isAhead: false });
  expect(await recalled("changed")).toEqual({ ids: ["1", "2"], isAhead: false });
  expect(await recalled("forgotten")).toEqual({ ids: ["2"], isAhead: false });
  expect(await recalled("elsewhere")).toMatchObject({ ids: [] });
});
