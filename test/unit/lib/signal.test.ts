import { expect, test } from "vitest";

import { Signal } from "../../../src/lib/signal.ts";

test("all listeners hear of it in order, also after one that fails, whose failure is told", async () => {
  const heard: string[] = [];
  const signal = new Signal<string>();
  signal.on(async (value) => {
    await Promise.resolve();
    heard.push(`first ${value}`);
  });
  signal.on(() => {
    throw new Error("the disk is full");
  });
  signal.on((value) => heard.push(`last ${value}`));

  await expect(signal.emit("group")).rejects.toThrow("the disk is full");

  expect(heard).toEqual(["first group", "last group"]);
});
