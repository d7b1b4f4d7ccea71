import { array, assert, asyncProperty, constantFrom, nat, oneof, pre, tuple } from "fast-check";
import { afterAll, expect, test } from "vitest";

import type { ReviewChange } from "../../../src/sandbox/review/review-layer.ts";
import { readTree, ReviewRig, seen } from "../../support/mount-review-rig.ts";
import { Sandbox } from "../../support/sandbox.ts";
import { seedOr } from "../../support/seed.ts";

const sandbox = await Sandbox.open();
afterAll(() => sandbox[Symbol.asyncDispose]());

/** The same scripts in each run of the tests: each takes more than a second. Another seed finds others. */
const runs = { numRuns: 10, seed: seedOr(7) };
const files = { "a/one": "1", "a/two": "2", "b/c/deep": "d", "b/keep": "k", top: "t", "e/f/g/h": "h" };

const name = constantFrom("a", "b", "c", "top", "one", "two", "new", "e", "f");
const path = array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));

/** One line of a script of the agent's; most of them fail now and then, as commands do. */
const command = oneof(
  path.map((one) => `echo ${one} > ${one}`),
  path.map((one) => `echo more >> ${one}`),
  path.map((one) => `rm -rf ${one}`),
  path.map((one) => `mkdir -p ${one}`),
  path.map((one) => `rmdir ${one}`),
  tuple(path, path).map(([one, other]) => `mv ${one} ${other}`),
  tuple(path, path).map(([one, other]) => `cp -r ${one} ${other}`),
  tuple(path, path).map(([one, other]) => `ln ${one} ${other}`),
  tuple(constantFrom("one", "new", "b/c"), path).map(([target, one]) => `ln -s ${target} ${one}`),
  tuple(constantFrom("755", "644", "600", "700"), path).map(([mode, one]) => `chmod ${mode} ${one}`),
  path.map((one) => `truncate -s 0 ${one}`),
  path.map((one) => `rm -rf ${one}; mkdir -p ${one}; echo again > ${one}/again`),
);
const script = array(command, { minLength: 1, maxLength: 12 });

/** The mount as its agent sees it: kind, bits and content of everything. */
const show = [
  "import os, stat, json",
  "found = {}",
  "for top, folders, names in os.walk('.'):",
  "  for name in folders + names:",
  "    path = os.path.join(top, name); facts = os.lstat(path)",
  "    bits = '%o' % stat.S_IMODE(facts.st_mode)",
  "    if stat.S_ISLNK(facts.st_mode): text = 'link ' + os.readlink(path)",
  "    elif stat.S_ISDIR(facts.st_mode): text = 'folder ' + bits + ' '",
  "    else: text = 'file ' + bits + ' ' + open(path, encoding='latin1').read()",
  "    found[path[2:]] = text",
  "print(json.dumps(found))",
].join("\n");

async function seenBy(rig: ReviewRig): Promise<Record<string, string>> {
  return JSON.parse(await rig.agent(`python3 -c "${show}"`)) as Record<string, string>;
}

let count = 0;

/** A rig in which the agent has run two scripts, with a look at the changes between them. */
async function worked(first: readonly string[], second: readonly string[]) {
  count += 1;
  const rig = await ReviewRig.open(sandbox, `property-${count}`);
  await rig.write(files);
  const before = await readTree(rig.real);
  await rig.agent(`${first.join("\n")}\ntrue`);
  const layer = await rig.layer();
  await layer.diff();
  await rig.agent(`${second.join("\n")}\ntrue`);
  expect(await readTree(rig.real)).toEqual(before);
  const { changes } = await layer.diff();
  // A link through another one is refused, which is for other tests.
  const isPlain = changes.every(({ refused }) => refused === undefined);
  if (!isPlain || changes.length === 0) await rig[Symbol.asyncDispose]();
  pre(isPlain && changes.length > 0);
  return { rig, layer, changes, before, view: await seenBy(rig) };
}

const pathsOf = (changes: readonly ReviewChange[]): string[] => changes.map(({ path: one }) => one);

test("whatever the agent does, the folder stays as it is; once all is applied, it is what the agent saw", async () => {
  await assert(
    asyncProperty(script, script, async (first, second) => {
      const { rig, layer, view } = await worked(first, second);
      await using _ = rig;

      const { kept } = await layer.apply(await seen(layer));

      expect(kept).toEqual([]);
      expect(sortedBy(await readTree(rig.real))).toEqual(sortedBy(view));
      expect(sortedBy(await seenBy(rig))).toEqual(sortedBy(view));
      expect((await layer.diff()).changes).toEqual([]);
    }),
    runs,
  );
}, 600_000);

test("once all is discarded, the agent sees the folder again", async () => {
  await assert(
    asyncProperty(script, script, async (first, second) => {
      const { rig, layer, before } = await worked(first, second);
      await using _ = rig;

      await layer.discard(await seen(layer));

      expect(await readTree(rig.real)).toEqual(before);
      expect(sortedBy(await seenBy(rig))).toEqual(before);
      expect((await layer.diff()).changes).toEqual([]);
    }),
    runs,
  );
}, 600_000);

test("a change that is applied alone leaves what the agent sees as it was, and the others waiting", async () => {
  await assert(
    asyncProperty(script, nat(), async (lines, pick) => {
      const { rig, layer, changes, view } = await worked(lines, []);
      await using _ = rig;

      const { applied, kept } = await layer.apply(await seen(layer, [pathsOf(changes)[pick % changes.length] ?? ""]));

      expect(kept).toEqual([]);
      const left = pathsOf((await layer.diff()).changes);
      expect(left).toEqual(pathsOf(changes).filter((one) => !pathsOf(applied).includes(one)));
      expect(sortedBy(await seenBy(rig))).toEqual(sortedBy(view));
    }),
    runs,
  );
}, 600_000);

test("a change that is discarded alone leaves the folder as it was, and the others waiting", async () => {
  await assert(
    asyncProperty(script, nat(), async (lines, pick) => {
      const { rig, layer, changes, before } = await worked(lines, []);
      await using _ = rig;

      const { discarded } = await layer.discard(await seen(layer, [pathsOf(changes)[pick % changes.length] ?? ""]));

      expect(await readTree(rig.real)).toEqual(before);
      const left = pathsOf((await layer.diff()).changes);
      expect(left).toEqual(pathsOf(changes).filter((one) => !pathsOf(discarded).includes(one)));
    }),
    runs,
  );
}, 600_000);

function sortedBy(tree: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
