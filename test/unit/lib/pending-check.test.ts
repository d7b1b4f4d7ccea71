import { expect, test } from "vitest";

import { PendingCheck } from "../../../src/lib/pending-check.ts";

/** Recorded looks, each waiting for release. */
function looks() {
  const done: string[] = [];
  const waiting: (() => void)[] = [];
  return {
    done,
    look: (what: string) => async () => {
      done.push(what);
      await new Promise<void>((resolve) => waiting.push(resolve));
    },
    letGo: () => waiting.splice(0).forEach((resolve) => resolve()),
  };
}

test("one look is enough for each place until there is doubt again, and who asks meanwhile waits for it", async () => {
  const check = new PendingCheck();
  const { done, look, letGo } = looks();
  const settled: string[] = [];

  const first = check.settle("here", look("first")).then(() => settled.push("first"));
  const second = check.settle("here", look("second")).then(() => settled.push("second"));
  await check.settle("there", async () => void done.push("elsewhere"));
  expect(settled).toEqual([]);
  letGo();
  await Promise.all([first, second]);
  await check.settle("here", look("third"));
  check.raise("here");
  const last = check.settle("here", look("fourth"));
  letGo();
  await last;

  expect(done).toEqual(["first", "elsewhere", "fourth"]);
});

test("a doubt that is raised while somebody looks is not settled by that look", async () => {
  const check = new PendingCheck();
  const { done, look, letGo } = looks();

  const early = check.settle("here", look("early"));
  check.raise("here");
  const late = check.settle("here", look("late"));
  letGo();
  await Promise.all([early, late]);

  expect(done).toEqual(["early", "late"]);
});

test("a look that fails is made again", async () => {
  const check = new PendingCheck();
  let tries = 0;
  const look = async (): Promise<void> => {
    tries += 1;
    if (tries === 1) throw new Error("the disk is full");
  };

  await expect(check.settle("here", look)).rejects.toThrow("full");
  await check.settle("here", look);
  await check.settle("here", look);

  expect(tries).toBe(2);
});
