import { afterAll, expect, test } from "vitest";

import { readTree, ReviewRig, seen } from "../../support/mount-review-rig.ts";
import { Sandbox } from "../../support/sandbox.ts";

const sandbox = await Sandbox.open();
afterAll(() => sandbox[Symbol.asyncDispose]());

/** More changes than any of the decisions makes. */
const mostSteps = 500;

const files = {
  "changed.txt": "one\n",
  "deleted.txt": "x",
  "gone/a": "a",
  "again/old": "old",
  "again/kept": "kept",
  "became-folder": "file",
  "became-file/in": "in",
};
const script = `
  echo two >> changed.txt; rm deleted.txt; rm -r gone; rm -r again; mkdir again; echo new > again/new
  mkdir deep; echo hi > deep/f; ln -s ../changed.txt deep/l; chmod 755 changed.txt
  rm became-folder; mkdir became-folder; echo x > became-folder/x; rm -r became-file; echo y > became-file`;

const decisions = {
  "apply all": { kind: "apply", paths: undefined },
  "apply some": { kind: "apply", paths: ["again", "became-file", "deep"] },
  "discard some": { kind: "discard", paths: ["again/old", "became-folder", "gone"] },
  "discard all": { kind: "discard", paths: undefined },
} as const;

/** Dies before the step with this number; returns whether there was one. */
async function dies(rig: ReviewRig, { kind, paths }: (typeof decisions)[keyof typeof decisions], step: number) {
  const layer = await rig.layer();
  const decision = await seen(layer, paths);
  let count = 0;
  rig.beforeChange = () => {
    count += 1;
    // Nothing has an effect anymore.
    if (count >= step) throw new Error("this host is dead");
  };
  await layer[kind](decision).catch((error: unknown) => {
    if (count < step) throw error;
  });
  return count >= step;
}

test.each(Object.entries(decisions))(
  "%s: killed before each of its steps, the next life finishes it or nothing has happened",
  async (name, decision) => {
    await using rig = await ReviewRig.open(sandbox, name.replace(" ", "-"));
    await rig.write(files);
    await rig.agent(script);
    await (await rig.layer()).diff();
    await using copy = await rig.copy();
    const state = async () => ({ real: await readTree(rig.real), waiting: (await (await rig.layer()).diff()).digest });
    await copy.restore();
    const before = await state();
    await copy.restore();
    expect(await dies(rig, decision, Infinity)).toBe(false);
    const after = await state();
    expect(after).not.toEqual(before);

    let steps = 0;
    for (let isOver = false; !isOver && steps < mostSteps;) {
      await copy.restore();
      isOver = !(await dies(rig, decision, steps + 1));
      rig.restart();
      await rig.layers.finishAll();
      const now = await state();
      const which = [before, after].find((one) => JSON.stringify(one) === JSON.stringify(now));
      expect({ steps, now }).toEqual({ steps, now: which });
      steps += 1;
    }
    expect(steps).toBeGreaterThan(5);
    expect(steps).toBeLessThan(mostSteps);
  },
  900_000,
);
