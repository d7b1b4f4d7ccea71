import { expect, test } from "vitest";

import { RecentMap } from "../../../src/lib/recent-map.ts";

test("of more keys than it may hold, a map forgets the one that was not used for the longest", () => {
  const map = new RecentMap<string, number>(2);

  map.set("a", 1);
  map.set("b", 2);
  map.get("a");
  map.set("c", 3);
  const afterC = ["a", "b", "c"].map((key) => map.get(key));
  map.set("a", 4);
  map.delete("c");

  expect(afterC).toEqual([1, undefined, 3]);
  expect([map.size, map.get("a"), map.get("c")]).toEqual([1, 4, undefined]);
});
