import { createHash } from "node:crypto";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { pino } from "pino";
import { expect, test } from "vitest";

import { BlobFolder } from "../../../src/blobs/blob-folder.ts";
import { keepMemberImages } from "../../../src/blobs/member-images.ts";
import type { StoredAttachment } from "../../../src/domain/message.ts";
import { storedMessage } from "../context/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** A group's inbox with images of these contents, as they came with one message each. */
async function openRig(...contents: readonly string[]) {
  const root = await temporaryFolder();
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
  return {
    inbox,
    /** The names of those that are shown. */
    shown: async (hasRoom = true) => {
      const parts = { blobs, groupsFolder: join(root.path, "groups"), hasRoom: async () => hasRoom };
      const kept = await keepMemberImages({ ...parts, logger: pino({ level: "silent" }) }, "family", messages);
      return messages.flatMap(({ attachments = [] }) => attachments.map((one) => kept.get(one)?.name));
    },
    kept: () => readdir(folder),
    [Symbol.asyncDispose]: () => root[Symbol.asyncDispose](),
  };
}

test("what came is shown; what the agent has changed, removed or replaced by a link meanwhile is not", async () => {
  await using rig = await openRig("a cat", "a dog", "a bird", "a fish");
  await writeFile(join(rig.inbox, "1.png"), "a forgery");
  await rm(join(rig.inbox, "2.png"));
  await rm(join(rig.inbox, "3.png"));
  await writeFile(join(rig.inbox, "other"), "a fish");
  await symlink("other", join(rig.inbox, "3.png"));

  expect(await rig.shown()).toEqual(["0.png", undefined, undefined, undefined]);
  expect(await rig.kept()).toHaveLength(1);
});

test("of many the newest 16 are shown, and none where there is no room", async () => {
  await using rig = await openRig(...Array.from({ length: 20 }, (_, index) => `picture ${index}`));

  expect(await rig.shown(false)).toEqual(Array(20).fill(undefined));
  expect((await rig.shown()).map((name) => name !== undefined)).toEqual([
    ...Array(4).fill(false),
    ...Array(16).fill(true),
  ]);
});
