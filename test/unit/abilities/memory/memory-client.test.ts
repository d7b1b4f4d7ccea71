import { join } from "node:path";

import { expect, test } from "vitest";

import { MemoryClient } from "../../../../src/abilities/memory/thread/memory-client.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const weights = { vector: 0.5, text: 0.5, neighbour: 0.3 };

test("a thread keeps, finds and forgets, and how far readers are moves with what is added", async () => {
  await using folder = await temporaryFolder();
  await using client = new MemoryClient({ place: "none", weights });
  const memory = client.at(join(folder.path, "memory", "office.sqlite"));
  const time = Date.parse("2026-01-01T00:00:00Z");
  const said = (id: string, text: string, at = time) =>
    ({ id, category: "conversation", text, time: at, sender: "Ann", origin: "member", sources: [id] }) as const;

  await memory.advance([said("said-1", "the dog is called Rex")], { progress: { messages: 7 } });
  const standing = await memory.advance([said("said-2", "the dog eats", time + 1_000)], { progress: { replies: 3 } });
  const how = { limit: 5, tokens: 500 };
  const ids = async (inSight: { since: number; ids: string[] }) =>
    (await memory.recall("dog", how, inSight)).map((one) => one.id);

  expect(standing).toEqual({ messages: 7, replies: 3, extracted: 0, noted: 0, cleaned: 0, unextracted: 2 });
  expect(await ids({ since: Infinity, ids: [] })).toEqual(["said-1", "said-2"]);
  expect(await ids({ since: time + 1_000, ids: [] })).toEqual(["said-1"]);
  expect(await ids({ since: Infinity, ids: ["said-1"] })).toEqual(["said-2"]);
  expect(await memory.forget(["said-1", "said-2"])).toBe(2);
  expect(await ids({ since: Infinity, ids: [] })).toEqual([]);
  await expect(memory.advance([said("said-3", " ")], { progress: {} })).rejects.toMatchObject({ code: "bad_input" });
});
