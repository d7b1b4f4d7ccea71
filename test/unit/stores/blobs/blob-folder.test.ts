import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { BlobFolder } from "../../../../src/stores/blobs/blob-folder.ts";
import { removeUnreferenced } from "../../../../src/stores/blobs/remove-unreferenced.ts";
import { HostileFolder } from "../../../../src/lib/files/open-hostile-file.ts";
import { picture } from "../../../contracts/store-blobs.ts";
import { byMessage } from "../../../contracts/store-setup.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const hour = 3_600_000;
const never = new AbortController().signal;

async function openRig() {
  await using stack = new AsyncDisposableStack();
  const root = stack.use(await temporaryFolder());
  const { store } = stack.use(await openTestStore());
  const folder = join(root.path, "blobs");
  const source = join(root.path, "source");
  for (const path of [folder, source]) await mkdir(path);
  const clock = { ahead: 0, now: () => Date.now() + clock.ahead };
  const blobs = await BlobFolder.open({ folder, clock });
  const owned = stack.move();
  return {
    folder,
    source,
    store,
    clock,
    blobs,
    keep: async (content: string) => {
      await writeFile(join(source, "picture"), content);
      await using from = await HostileFolder.open(source);
      return await blobs.keep(
        (target) => from.copyFile("picture", target, { maxBytes: 1_000 }),
        () => true,
      );
    },
    clean: () => removeUnreferenced({ folder: blobs, blobs: store.blobs, clock }, never),
    names: async () => (await readdir(folder, { recursive: true })).filter((name) => name.length > 2).toSorted(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function nameOf(content: string): string {
  const sha256 = createHash("sha256").update(content).digest("hex");
  return `${sha256.slice(0, 2)}/${sha256}`;
}

test("the same content is kept once, for the owner's eyes only, and read as it was", async () => {
  await using rig = await openRig();

  const kept = [await rig.keep("a cat"), await rig.keep("a cat")];

  expect(kept).toMatchObject([
    { ok: true, bytes: 5 },
    { ok: true, bytes: 5 },
  ]);
  expect(await rig.names()).toEqual([nameOf("a cat")]);
  const path = join(rig.folder, nameOf("a cat"));
  expect([(await stat(path)).mode & 0o777, (await stat(join(path, ".."))).mode & 0o777]).toEqual([0o600, 0o700]);
  expect((await rig.blobs.read(nameOf("a cat").slice(3))).toString()).toBe("a cat");
});

test("what is too large or not wanted leaves nothing behind", async () => {
  await using rig = await openRig();

  const large = await rig.keep("x".repeat(1_001));
  await using from = await HostileFolder.open(rig.source);
  await writeFile(join(rig.source, "picture"), "no picture");
  const unwanted = await rig.blobs.keep(
    (target) => from.copyFile("picture", target, { maxBytes: 1_000 }),
    ({ head }) => head.toString() === "a picture",
  );

  expect([large, unwanted]).toEqual([{ ok: false, reason: "too-large" }, undefined]);
  expect(await readdir(rig.folder)).toEqual([]);
});

test("a damaged content is not given out, and says so", async () => {
  await using rig = await openRig();
  await rig.keep("a cat");
  const path = join(rig.folder, nameOf("a cat"));
  await writeFile(path, "a cut");

  await expect(rig.blobs.read(nameOf("a cat").slice(3))).rejects.toThrow(`The blob ${path} is damaged`);
  await rig.keep("a cat");
  expect(await readFile(path, "utf8")).toBe("a cat");
});

test("a host that is killed before a step refers to a blob leaves a file that is removed an hour later", async () => {
  await using rig = await openRig();
  await writeFile(join(rig.source, "picture"), "a cat");
  const program = join(import.meta.dirname, "../../../fixtures/blobs/dying-keeper.ts");

  await promisify(execFile)(process.execPath, [program, rig.folder, rig.source]).catch(() => undefined);
  const left = await rig.names();
  await BlobFolder.open({ folder: rig.folder, clock: rig.clock });
  const cleaned = [await rig.clean(), await rig.names()];
  rig.clock.ahead = hour;
  const later = [await rig.clean(), await rig.names()];

  expect(existsSync(join(rig.source, "reached"))).toBe(true);
  expect(left).toHaveLength(2);
  expect(left).toContain(nameOf("a cat"));
  expect(cleaned).toEqual([0, [nameOf("a cat")]]);
  expect(later).toEqual([1, []]);
});

test("what a step refers to stays however old it is, and goes with the step; what is kept anew counts as young", async () => {
  await using rig = await openRig();
  for (const content of ["a cat", "a dog"]) await rig.keep(content);
  const { id: session } = await rig.store.sessions.open("agent:terminal:chat", "family");
  const begins = { id: "t", session, group: "family", conversation: 1, ...byMessage, at: 10 };
  await rig.store.turns.begin(begins, { body: { kind: "user", parts: [picture("a cat")] }, tokens: 1, at: 10 });
  rig.clock.ahead = 24 * hour;

  const first = [await rig.clean(), await rig.names()];
  rig.clock.ahead = 0;
  await rig.keep("a dog");
  rig.clock.ahead = hour / 2;
  const second = [await rig.clean(), await rig.names()];

  expect(first).toEqual([1, [nameOf("a cat")]]);
  expect(second).toEqual([0, [nameOf("a cat"), nameOf("a dog")].toSorted()]);
});
