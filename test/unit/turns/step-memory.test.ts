import { expect, test } from "vitest";

import { StepMemory } from "../../../src/turns/conversation/step-memory.ts";
import type { TurnStore } from "../../../src/stores/contract/store.ts";
import { runningTurn, step, stopping, insertCommand } from "../../contracts/store-setup.ts";
import { openTestStore } from "../../support/open-test-store.ts";

/** A memory over a real store, and what it asked the store for. */
async function memoryOver(turns: TurnStore) {
  const asked: number[] = [];
  const memory = new StepMemory({
    history: async (session, conversation, from) => {
      asked.push(from);
      return turns.history(session, conversation, from);
    },
  });
  return { memory, asked };
}

test("each step is read once, and what is remembered is what the store has", async () => {
  await using opened = await openTestStore();
  const { turns } = opened.store;
  const { session } = await runningTurn(opened.store);
  const { memory, asked } = await memoryOver(turns);

  const first = await memory.history(session, 1, 0);
  const second = await turns.addStep("t", step("second"));
  const both = await memory.history(session, 1, 0);
  const cut = await memory.history(session, 1, second.seq);

  expect(first).toHaveLength(1);
  expect(both).toEqual(await turns.history(session, 1, 0));
  expect(cut).toEqual([second]);
  expect(asked).toEqual([0, (first[0]?.seq ?? 0) + 1, second.seq + 1]);
});

test("a window that begins earlier, and a new conversation, are read anew", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const { session } = await runningTurn(store);
  const second = await store.turns.addStep("t", step("second"));
  const { memory } = await memoryOver(store.turns);

  await memory.history(session, 1, second.seq);
  const earlier = await memory.history(session, 1, 0);
  await store.commands.carryOut(await insertCommand(store, "new", "new"), { ...stopping, renews: [session] });
  const fresh = await memory.history(session, 2, 0);

  expect(earlier).toHaveLength(2);
  expect(fresh).toEqual([]);
});

test("of very many short conversations only those that were used last are remembered", async () => {
  await using opened = await openTestStore();
  const { session } = await runningTurn(opened.store);
  const { memory, asked } = await memoryOver(opened.store.turns);

  await memory.history(session, 1, 0);
  for (let other = 0; other < 512; other += 1) await memory.history(`other-${other}`, 1, 0);
  await memory.history(session, 1, 0);

  expect(asked.at(-1)).toBe(0);
});
