import { randomUUID } from "node:crypto";
import { readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { LaunchedContainer } from "../../../src/sandbox/launch/launched-container.ts";
import type { MountGrant } from "../../../src/sandbox/mounts/rules.ts";
import { readTree, ReviewRig, seen } from "../../support/mount-review-rig.ts";
import { Sandbox } from "../../support/sandbox.ts";

const sandbox = await Sandbox.open();
afterAll(() => sandbox[Symbol.asyncDispose]());

test("this machine can have mounts with review", async () => {
  await using rig = await ReviewRig.open(sandbox, "trial");
  await rig.write({ a: "" });

  expect(await rig.layers.fault()).toBeUndefined();
});

test("what an agent changes waits in the layer, is shown as it is, and is applied on demand", async () => {
  await using rig = await ReviewRig.open(sandbox, "whole");
  await rig.write({
    "changed.txt": "one\ntwo\n",
    "deleted.txt": "x",
    "gone/a": "a",
    "again/old": "old",
    "kept/k": "k",
  });
  const before = await readTree(rig.real);

  await rig.agent(`
    echo three >> changed.txt; rm deleted.txt; rm -r gone; rm -r again; mkdir again; echo new > again/new
    mkdir -p deep/er; echo hi > deep/er/f; ln -s ../changed.txt deep/l; echo '#!/bin/sh' > run.sh; chmod 755 run.sh`);
  const layer = await rig.layer();
  const diff = await layer.diff();

  expect(await readTree(rig.real)).toEqual(before);
  expect(diff.changes.map(({ path, kind, entry }) => `${kind} ${entry} ${path}`)).toEqual([
    "added file again/new",
    "deleted file again/old",
    "changed file changed.txt",
    "added folder deep",
    "added folder deep/er",
    "added file deep/er/f",
    "added link deep/l",
    "deleted file deleted.txt",
    "deleted folder gone",
    "deleted file gone/a",
    "added file run.sh",
  ]);
  expect(diff.changes.find(({ path }) => path === "changed.txt")?.text).toContain("+three");
  expect(diff.changes.find(({ path }) => path === "run.sh")?.remarks).toEqual(["is executable"]);
  expect(diff.changes.filter(({ refused, conflict }) => refused !== undefined || conflict === true)).toEqual([]);

  const { applied, kept } = await layer.apply(await seen(layer));

  expect(kept).toEqual([]);
  expect(applied).toHaveLength(11);
  expect(await rig.agent("cat changed.txt again/new deep/er/f deep/l; ls")).toBe(
    await rig.agent("cat changed.txt again/new deep/er/f deep/l; ls"),
  );
  expect(await readFile(join(rig.real, "deep/l"), "utf8")).toBe("one\ntwo\nthree\n");
  expect((await stat(join(rig.real, "run.sh"))).mode & 0o777).toBe(0o755);
  expect((await stat(join(rig.real, "run.sh"))).uid).toBe(sandbox.wish.user.uid);
  expect((await layer.diff()).changes).toEqual([]);
});

test("discarding all gives the agent the folder again", async () => {
  await using rig = await ReviewRig.open(sandbox, "discard");
  await rig.write({ a: "a", "d/b": "b" });
  const before = await readTree(rig.real);
  await rig.agent("echo x > a; rm -r d; echo y > new");
  const layer = await rig.layer();

  const { discarded } = await layer.discard(await seen(layer));

  expect(discarded.map(({ path }) => path)).toEqual(["a", "d", "d/b", "new"]);
  expect(await readTree(rig.real)).toEqual(before);
  expect(await rig.agent("cat a d/b; ls")).toBe("aba\nd\n");
});

test("single paths are applied and discarded, also in a replaced folder; the rest outlives a restart", async () => {
  await using rig = await ReviewRig.open(sandbox, "single");
  await rig.write({ "d/one": "1", "d/two": "2", "d/three": "3", plain: "p" });
  await rig.agent(
    "rm -r d; mkdir d; echo new > d/new; echo changed > d/one; echo q > plain; mkdir -p x/y; echo z > x/y/z",
  );
  let layer = await rig.layer();

  await layer.apply(await seen(layer, ["d/two", "x/y/z"]));
  await layer.discard(await seen(layer, ["d/three"]));
  rig.restart();
  layer = await rig.layer();

  const paths = (await layer.diff()).changes.map(({ path, kind }) => `${kind} ${path}`);
  expect(paths).toEqual(["added d/new", "changed d/one", "changed plain"]);
  expect(await rig.agent("cat d/three d/one x/y/z; ls d")).toBe("3changed\nz\nnew\none\nthree\n");
  await layer.discard(await seen(layer, ["d/one"]));
  await layer.apply(await seen(layer));
  expect(await rig.agent("cat d/one plain; ls d")).toBe("1q\nnew\none\nthree\n");
  expect(await readFile(join(rig.real, "d/one"), "utf8")).toBe("1");
});

test("a file that changed underneath is kept on both sides", async () => {
  await using rig = await ReviewRig.open(sandbox, "conflict");
  await rig.write({ a: "a", b: "b", c: "c" });
  await rig.agent("echo agent > a; echo agent > b; rm c");
  const layer = await rig.layer();
  await layer.diff();
  await writeFile(join(rig.real, "a"), "operator");
  await rm(join(rig.real, "b"));
  await symlink("/etc/passwd", join(rig.real, "b"));

  const { kept, applied } = await layer.apply(await seen(layer));

  expect(kept).toEqual([
    { path: "a", reason: "has changed meanwhile" },
    { path: "b", reason: "has changed meanwhile" },
  ]);
  expect(applied.map(({ path }) => path)).toEqual(["c"]);
  expect(await readFile(join(rig.real, "a"), "utf8")).toBe("operator");
  expect(await rig.agent("cat a b")).toBe("agent\nagent\n");
});

test("what was not shown is not applied, and nothing while a turn is at work", async () => {
  await using rig = await ReviewRig.open(sandbox, "shown");
  await rig.write({ a: "a" });
  await rig.agent("echo first > a");
  const layer = await rig.layer();
  const shown = await seen(layer);
  await rig.agent("echo second > a");

  await expect(layer.apply(shown)).rejects.toThrow("are not those that were shown");
  rig.isBusy = true;
  await expect(layer.apply(await seen(layer))).rejects.toThrow("is at work");
  expect(await readFile(join(rig.real, "a"), "utf8")).toBe("a");
});

test("a container with review is what it was meant to be, and one that joins other folders is not", async () => {
  await using rig = await ReviewRig.open(sandbox, "attested");
  await rig.write({ a: "a" });
  const grant = await rig.grant();
  const review = await rig.layers.open("family", grant);
  using _ = await rig.layers.hold("family", [grant]);

  expect(await surprisesOf(rig, { ...grant, review })).toEqual([]);
  const elsewhere = { ...review, options: { ...review.options, o: "lowerdir=/etc,upperdir=/tmp/a,workdir=/tmp/b" } };
  expect(await surprisesOf(rig, { ...grant, review: elsewhere })).toEqual([
    "The mount work does not join the folders that it was made of.",
  ]);
});

async function surprisesOf(rig: ReviewRig, grant: MountGrant): Promise<readonly string[]> {
  const { engine } = sandbox;
  const body = sandbox.body(["sleep", "600"], [grant]);
  const { id } = await sandbox.start(body);
  const { uid } = sandbox.wish.user;
  const about = { engine, id, body, granted: [grant], name: "reviewed", generation: 1, uid, mailFolder: "" };
  const reviewFaults = () => rig.layers.faults("family", [grant]);
  const launched = new LaunchedContainer({ ...about, reviewFaults });
  try {
    return await launched.attest(undefined);
  } finally {
    await launched.remove();
  }
}

test("the volume and the layer of a mount that is gone are removed, but not while something is undecided", async () => {
  const own = randomUUID();
  await using rig = await ReviewRig.open(sandbox, "unneeded", own);
  const { engine } = sandbox;
  const instance = { "crabpot.instance": own };
  const volumes = (): Promise<string[]> => engine.volumes(instance);
  await rig.write({ a: "a" });
  const left = `crabpot-${own.slice(0, 8)}-review-leftover`;
  const foreign = `${left}-foreign`;
  await engine.createVolume(left, {}, instance);
  await engine.createVolume(foreign, {}, { "crabpot.instance": "another" });
  try {
    await rig.agent("echo b > b");
    const { volume } = await rig.layers.open("family", await rig.grant());
    const whileMounted = await volumes();
    await rig.layers.removeUnneeded();
    const mounted = await volumes();
    rig.isMounted = false;
    rig.restart();
    await rig.layers.removeUnneeded();
    const undecided = (await rig.layers.of("family")).length;
    const layer = await rig.layer();
    await layer.discard(await seen(layer));
    await layer.diff();
    await rig.layers.removeUnneeded();
    const gone = await rig.layers.of("family");

    expect(whileMounted).toEqual(expect.arrayContaining([left, volume]));
    expect(mounted).toContain(volume);
    expect(mounted).not.toContain(left);
    expect(undecided).toBe(1);
    expect([gone, await volumes()]).toEqual([[], []]);
    expect(await engine.volume(foreign)).toBeDefined();
    expect(await readdir(join(rig.home, "family"))).toEqual([]);
    rig.isMounted = true;
    expect(await rig.agent("ls")).toBe("a\n");
  } finally {
    await engine.removeVolume(foreign);
    await engine.removeVolume(left);
  }
});
