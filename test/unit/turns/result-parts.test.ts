import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { expect, test } from "vitest";

import { BlobFolder } from "../../../src/stores/blobs/blob-folder.ts";
import { keepImage } from "../../../src/abilities/media/keep-picture.ts";
import { ofHost } from "../../../src/domain/rights/sourced.ts";
import type { AgentToolResult } from "../../../src/protocol/messages.ts";
import { keepAgentResults } from "../../../src/turns/steps/result-parts.ts";
import { openMedia } from "../../support/open-media.ts";
import { openMailbox } from "../../support/mailbox-under-test.ts";
import { pngOf } from "../../support/picture-files.ts";
import { someGroup } from "../../support/some-group.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const png = pngOf("a plot");

/** A mailbox with these files of the agent, and what the host makes of results. */
async function openRig(files: Readonly<Record<string, Buffer>>, hasRoom = true) {
  await using stack = new AsyncDisposableStack();
  const box = stack.use(await openMailbox());
  const home = stack.use(await temporaryFolder());
  await mkdir(join(box.toHost, "files"));
  for (const [name, content] of Object.entries(files)) await writeFile(join(box.toHost, "files", name), content);
  const media = stack.use(await openMedia());
  const blobs = await BlobFolder.open({ folder: home.path, clock: { now: () => Date.now() } });
  const owned = stack.move();
  return {
    take: async (results: readonly AgentToolResult[]) => {
      const given = results.map((one) => ({ ...one, sources: ofHost`` }));
      const taken = await keepAgentResults(given, {
        group: someGroup("family"),
        container: box.mailbox,
        shownBy: () => [],
        pictures: {
          keepImage: (image) =>
            keepImage({ ...media, blobs, hasRoom: async () => hasRoom }, { ...image, group: image.group.name }),
        },
      });
      return taken.map(({ result: kept }) => kept);
    },
    left: () => readdir(join(box.toHost, "files")),
    kept: () => readdir(home.path),
    /** The hashes of what is kept. */
    blobs: async () => (await readdir(home.path, { recursive: true })).map((path) => basename(path)).filter(isHash),
    read: (blob: string) => readFile(join(home.path, blob.slice(0, 2), blob)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function isHash(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

function result(callId: string, ...files: readonly string[]): AgentToolResult {
  const parts = files.map((file) => ({ kind: "image" as const, file, name: `${file}]\n.png` }));
  return { callId, output: `output of ${callId}`, isError: false, ...(files.length > 0 && { parts }) };
}

test("a result of text stays as it is; an image is kept under its hash, by a name in one line", async () => {
  await using rig = await openRig({ plot: png });

  const taken = await rig.take([result("a"), result("b", "plot")]);

  const [blob = ""] = await rig.blobs();
  const { length: bytes } = await rig.read(blob);
  expect(taken).toEqual([
    { callId: "a", output: "output of a", isError: false },
    {
      callId: "b",
      parts: [
        { kind: "text", text: "output of b" },
        { kind: "image", blob, mimeType: "image/png", bytes, name: "plot__.png" },
      ],
      isError: false,
    },
  ]);
  expect([await rig.left(), await rig.kept()]).toEqual([[], [blob.slice(0, 2)]]);
});

test("what is missing, is no image or has no room is told in words, and nothing of it is kept", async () => {
  await using rig = await openRig({ program: Buffer.from("#!/bin/sh"), plot: png });
  await using full = await openRig({ plot: png }, false);

  const taken = JSON.stringify([
    await rig.take([result("a", "missing", "program")]),
    await full.take([result("b", "plot")]),
  ]);

  expect(taken).toContain("[an image cannot be shown: it could not be taken (missing)]");
  expect(taken).toContain("[an image cannot be shown: it is no JPEG, PNG, GIF, WebP, TIFF, HEIC or AVIF picture]");
  expect(taken).toContain("[an image cannot be shown: there is no room for more images of this group]");
  expect([await rig.kept(), await full.kept()]).toEqual([[], []]);
});

test("one step has at most 16 images, over all of its results", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `plot-${index}`);
  await using rig = await openRig(Object.fromEntries(names.map((name) => [name, pngOf(name)])));

  const taken = await rig.take([result("a", ...names.slice(0, 10)), result("b", ...names.slice(10))]);

  const kinds = taken.flatMap(({ parts = [] }) => parts.map(({ kind }) => kind));
  expect(kinds.filter((kind) => kind === "image")).toHaveLength(16);
  expect(JSON.stringify(taken)).toContain("at most 16 can be shown at once");
});
