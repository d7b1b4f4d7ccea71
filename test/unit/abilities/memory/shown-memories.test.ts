import * as fc from "fast-check";
import { expect, test } from "vitest";

import { ShownMemories } from "../../../../src/abilities/memory/keeping/shown-memories.ts";
import type { Memory } from "../../../../src/processes/memory-schemas.ts";

const memory = (id: string, text = id): Memory => {
  return { id, text, category: "core", time: 0, sender: "Ann", origin: "member", sources: [] };
};
const idsOf = (memories: readonly Memory[]): string[] => memories.map(({ id }) => id);

test("a memory is shown again when its words have changed, and when the conversation did not get as far as to show it", () => {
  const sight = new ShownMemories(0);

  expect(idsOf(sight.show([memory("a"), memory("b")], [1, 2]))).toEqual(["a", "b"]);
  expect(idsOf(sight.show([memory("a"), memory("b")], [2, 3]))).toEqual(["a", "b"]);
  expect(idsOf(sight.show([memory("a", "new"), memory("b"), memory("c")], [4]))).toEqual(["a", "c"]);
  expect(idsOf(sight.show([{ ...memory("c"), isGlobal: true } as Memory, memory("b")], [5]))).toEqual(["c"]);
});

test("for any messages that are new, each memory is shown once", () => {
  const found = fc.array(fc.constantFrom("a", "b", "c", "d", "e"));
  fc.assert(
    fc.property(fc.array(found), (turns) => {
      const sight = new ShownMemories(0);
      const shown = turns.flatMap((ids, at) =>
        idsOf(
          sight.show(
            [...new Set(ids)].map((id) => memory(id)),
            [at],
          ),
        ),
      );
      expect(shown.toSorted()).toEqual([...new Set(turns.flat())].toSorted());
    }),
  );
});
