import { join, posix } from "node:path";

import type { StoredAttachment, StoredMessage } from "../../domain/chats/message.ts";
import type { BlobPart } from "../../domain/chats/part.ts";
import { blobsPerStep, originalBytes } from "../../domain/chats/part.ts";
import type { HostileCopy } from "../../lib/files/open-hostile-file.ts";
import { HostileFolder } from "../../lib/files/open-hostile-file.ts";
import { containerPaths } from "../../protocol/paths.ts";
import { keepPicture, type PictureOptions } from "./keep-picture.ts";

export interface MemberImagesOptions extends PictureOptions {
  readonly groupsFolder: string;
  /** Whether there is room for another image of this group. */
  readonly hasRoom: (group: string) => Promise<boolean>;
}

type Showable = StoredAttachment & { readonly file: { readonly sha256: string } };

/** For all pictures of one turn's beginning: people wait for it. */
const mostMs = 60_000;

/**
 * Keeps the pictures that came with messages of a group, the newest `blobsPerStep` of them, or says why one cannot be
 * shown. They are taken from the group's inbox, where its agent can change them, so only what is still what came
 * counts. Rejects when they cannot be written.
 */
export async function keepMemberImages(
  options: MemberImagesOptions,
  group: string,
  messages: readonly StoredMessage[],
): Promise<ReadonlyMap<StoredAttachment, BlobPart | string>> {
  const kept = new Map<StoredAttachment, BlobPart | string>();
  const showable = messages.flatMap(({ attachments = [] }) => attachments.filter(isShowable)).slice(-blobsPerStep);
  if (showable.length === 0 || !(await options.hasRoom(group))) return kept;
  const signal = AbortSignal.timeout(mostMs);
  for (const attachment of showable) {
    const { path, sha256 } = attachment.file;
    const image = await keepPicture(options, {
      group,
      name: posix.basename(path),
      copy: (target) => copyFromGroup(join(options.groupsFolder, group), path, target),
      refuse: (found) => (found.sha256 === sha256 ? undefined : "it is not what came anymore"),
      signal,
    });
    kept.set(attachment, typeof image === "string" ? `cannot be shown: ${image}` : image);
    if (typeof image === "string")
      options.logger.info({ group, path, reason: image }, "an image of a member cannot be shown");
  }
  return kept;
}

function isShowable(attachment: StoredAttachment): attachment is Showable {
  return attachment.file?.sha256 !== undefined;
}

/** Copies a file of a group's folder, given by its path in the container. */
async function copyFromGroup(groupFolder: string, path: string, target: string): Promise<HostileCopy> {
  const names = posix.relative(containerPaths.group, path).split("/");
  await using opened = new AsyncDisposableStack();
  let folder = opened.use(await HostileFolder.open(groupFolder));
  for (const name of names.slice(0, -1)) {
    const next = await folder.openFolder(name);
    if (!next) return { ok: false, reason: "missing" };
    folder = opened.use(next);
  }
  return await folder.copyFile(names.at(-1) ?? "", target, { maxBytes: originalBytes });
}
