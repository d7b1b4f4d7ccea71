import { expect, test } from "vitest";

import { Doubt } from "../../../src/lib/doubt.ts";

/** What was looked for, in order; each look waits until it is let go. */
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
  const doubt = new Doubt();
  const { done, look, letGo } = looks();
  const settled: string[] = [];

  const first = doubt.settle("here", look("first")).then(() => settled.push("first"));
  const second = doubt.settle("here", look("second")).then(() => settled.push("second"));
  await doubt.settle("there", async () => void done.push("elsewhere"));
  expect(settled).toEqual([]);
  letGo();
  await Promise.all([first, second]);
  await doubt.settle("here", look("third"));
  doubt.raise("here");
  const last = doubt.settle("here", look("fourth"));
  letGo();
  await last;

  expect(done).toEqual(["first", "elsewhere", "fourth"]);
});

test("a doubt that is raised while somebody looks is not settled by that look", async () => {
  const doubt = new Doubt();
  const { done, look, letGo } = looks();

  const early = doubt.settle("here", look("early"));
  doubt.raise("here");
  const late = doubt.settle("here", look("late"));
  letGo();
  await Promise.all([early, late]);

  expect(done).toEqual(["early", "late"]);
});

test("a look that fails is made again", async () => {
  const doubt = new Doubt();
  let tries = 0;
  const look = async (): Promise<void> => {
    tries += 1;
    if (tries === 1) throw new Error("the disk is full");
  };

  await expect(doubt.settle("here", look)).rejects.toThrow("full");
  await doubt.settle("here", look);
  await doubt.settle("here", look);

  expect(tries).toBe(2);
});
