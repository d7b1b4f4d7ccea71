import { expect, test } from "vitest";

import { orderlyResolver } from "../../../src/egress/system-resolver.ts";

test("many who want one name are one question, and two names are two questions, one after the other", async () => {
  const asked: string[] = [];
  const answers = new Map(["slow.test", "other.test"].map((host) => [host, Promise.withResolvers<string[]>()]));
  const resolve = orderlyResolver(async (host) => {
    asked.push(host);
    return (await answers.get(host)?.promise) ?? [];
  });

  const slow = Array.from({ length: 30 }, () => resolve("slow.test"));
  const other = resolve("other.test");
  const before = [...asked];
  answers.get("slow.test")?.resolve(["192.0.2.1"]);
  answers.get("other.test")?.resolve(["192.0.2.2"]);

  expect(before).toEqual(["slow.test"]);
  expect(new Set((await Promise.all(slow)).flat())).toEqual(new Set(["192.0.2.1"]));
  expect(await other).toEqual(["192.0.2.2"]);
  expect(asked).toEqual(["slow.test", "other.test"]);
});

test("a name that was not found is asked for again", async () => {
  let count = 0;
  const resolve = orderlyResolver(async () => {
    count += 1;
    await Promise.resolve();
    throw new Error("not found");
  });

  await expect(resolve("a.test")).rejects.toThrow("not found");
  await expect(resolve("a.test")).rejects.toThrow("not found");
  expect(count).toBe(2);
});
