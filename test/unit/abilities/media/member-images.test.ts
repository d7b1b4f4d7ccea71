import { createHash } from "node:crypto";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { BlobFolder } from "../../../../src/stores/blobs/blob-folder.ts";
import { keepMemberImages } from "../../../../src/abilities/media/member-images.ts";
import type { StoredAttachment } from "../../../../src/domain/chats/message.ts";
import type { BlobPart } from "../../../../src/domain/chats/part.ts";
import { storedMessage } from "../../turns/context/messages.ts";
import { openMedia } from "../../../support/open-media.ts";
import { pngOf } from "../../../support/picture-files.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** A group's inbox with pictures of these colours, as they came with one message each. */
async function openRig(...colours: readonly string[]) {
  const contents = colours.map((colour) => pngOf(colour));
  await using stack = new AsyncDisposableStack();
  const media = stack.use(await openMedia());
  const root = stack.use(await temporaryFolder());
  const [inbox, folder] = [join(root.path, "groups", "family", "inbox"), join(root.path, "blobs")];
  for (const path of [inbox, folder]) await mkdir(path, { recursive: true });
  const messages = contents.map((content, index) => {
    const sha256 = createHash("sha256").update(content).digest("hex");
    const path = `/workspace/group/inbox/${index}.png`;
    const image: StoredAttachment = {
      kind: "image",
      file: { path, mimeType: "image/png", bytes: content.length, sha256 },
    };
    return storedMessage({ seq: index, attachments: [image] });
  });
  for (const [index, content] of contents.entries()) await writeFile(join(inbox, `${index}.png`), content);
  const blobs = await BlobFolder.open({ folder, clock: { now: () => Date.now() } });
  const owned = stack.move();
  return {
    inbox,
    /** The names of those that are shown. */
    shown: async (hasRoom = true) => {
      const parts = { ...media, blobs, groupsFolder: join(root.path, "groups"), hasRoom: async () => hasRoom };
      const kept = await keepMemberImages(parts, "family", messages);
      return messages.flatMap(({ attachments = [] }) => attachments.map((one) => nameOf(kept.get(one))));
    },
    kept: () => readdir(folder),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function nameOf(shown: BlobPart | string | undefined): string | undefined {
  return typeof shown === "string" ? shown : shown?.name;
}

test("what came is shown; what the agent has changed, removed or replaced by a link meanwhile is not", async () => {
  await using rig = await openRig("a cat", "a dog", "a bird", "a fish");
  await writeFile(join(rig.inbox, "1.png"), "a forgery");
  await rm(join(rig.inbox, "2.png"));
  await rm(join(rig.inbox, "3.png"));
  await writeFile(join(rig.inbox, "other"), pngOf("a fish"));
  await symlink("other", join(rig.inbox, "3.png"));

  expect(await rig.shown()).toEqual([
    "0.png",
    "cannot be shown: it is no JPEG, PNG, GIF, WebP, TIFF, HEIC or AVIF picture",
    "cannot be shown: it could not be taken (missing)",
    "cannot be shown: it could not be taken (link)",
  ]);
  expect(await rig.kept()).toHaveLength(1);
});

test("another picture in the place of what came is not shown", async () => {
  await using rig = await openRig("a cat");
  await writeFile(join(rig.inbox, "0.png"), pngOf("a forgery"));

  expect(await rig.shown()).toEqual(["cannot be shown: it is not what came anymore"]);
  expect(await rig.kept()).toEqual([]);
});

test("of many the newest 16 are shown, and none where there is no room", async () => {
  await using rig = await openRig(...Array.from({ length: 20 }, (_, index) => `picture ${index}`));

  expect(await rig.shown(false)).toEqual(Array(20).fill(undefined));
  expect((await rig.shown()).map((name) => name !== undefined)).toEqual([
    ...Array(4).fill(false),
    ...Array(16).fill(true),
  ]);
});
