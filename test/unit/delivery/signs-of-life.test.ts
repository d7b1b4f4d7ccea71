import { expect, test } from "vitest";

import { SignsOfLife } from "../../../src/delivery/signs-of-life.ts";
import { VirtualTime } from "../../support/virtual-time.ts";

function openSigns(show?: (group: string, sign: string) => Promise<void>) {
  const time = new VirtualTime();
  const shown: string[] = [];
  const signs = new SignsOfLife({
    wait: time.wait,
    show: async (group, sign) => {
      shown.push(`${time.clock.now() / 1000} ${group} ${sign}`);
      await show?.(group, sign);
    },
  });
  return { time, shown, signs };
}

test("who waits is told after three seconds, every ten seconds, at each change, and when it is over", async () => {
  const { time, shown, signs } = openSigns();

  signs.note("family", "waiting");
  await time.advance(15_000);
  signs.note("family", "running");
  await time.advance(20_000);
  signs.note("family", undefined);
  await time.advance(60_000);

  expect(shown).toEqual([
    "3 family queued",
    "13 family queued",
    "15 family working",
    "23 family working",
    "33 family working",
    "35 family idle",
  ]);
  expect(time.sleepers).toBe(0);
});

test("the time in the line and the time of the work count together", async () => {
  const { time, shown, signs } = openSigns();

  signs.note("family", "waiting");
  await time.advance(2_000);
  signs.note("family", "running");
  await time.advance(1_000);

  expect(shown).toEqual(["3 family working"]);
});

test("who gets an answer soon is not bothered, and no timer is left", async () => {
  const { time, shown, signs } = openSigns();

  for (let turn = 0; turn < 20; turn += 1) {
    signs.note("family", "waiting");
    signs.note("family", "running");
    await time.advance(2_900);
    signs.note("family", undefined);
    signs.note("family", undefined);
    await time.settle();
  }

  expect(shown).toEqual([]);
  expect(time.sleepers).toBe(0);
});

test("a chat in which signs are stuck gets no pile of them, and other chats notice nothing", async () => {
  const gate = Promise.withResolvers<void>();
  const { time, shown, signs } = openSigns((group) => (group === "stuck" ? gate.promise : Promise.resolve()));

  signs.note("stuck", "waiting");
  signs.note("fine", "running");
  await time.advance(13_000);
  signs.note("stuck", "running");
  signs.note("stuck", undefined);
  await time.advance(10_000);
  gate.resolve();
  await time.settle();

  expect(shown.filter((line) => line.includes("stuck"))).toEqual(["3 stuck queued", "23 stuck idle"]);
  expect(shown.filter((line) => line.includes("fine"))).toHaveLength(3);
  signs[Symbol.dispose]();
});

test("a sign that cannot be shown is skipped", async () => {
  const { time, shown, signs } = openSigns(() => Promise.reject(new Error("not connected")));

  signs.note("family", "running");
  await time.advance(13_000);
  signs[Symbol.dispose]();
  await time.settle();

  expect(shown).toEqual(["3 family working", "13 family working", "13 family idle"]);
  expect(time.sleepers).toBe(0);
});
