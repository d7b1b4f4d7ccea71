import { join, posix } from "node:path";

import type { Logger } from "pino";

import type { StoredAttachment, StoredMessage } from "../domain/message.ts";
import type { BlobPart } from "../domain/part.ts";
import { blobsPerStep, imageBytes } from "../domain/part.ts";
import type { HostileCopy } from "../lib/files/open-hostile-file.ts";
import { HostileFolder } from "../lib/files/open-hostile-file.ts";
import { containerPaths } from "../protocol/paths.ts";
import type { BlobFolder } from "./blob-folder.ts";

export interface MemberImagesOptions {
  readonly blobs: BlobFolder;
  readonly groupsFolder: string;
  /** Whether there is room for another image of this group. */
  readonly hasRoom: (group: string) => Promise<boolean>;
  readonly logger: Logger;
}

type Showable = StoredAttachment & { readonly file: { readonly sha256: string } };

/**
 * Keeps the images that came with messages of a group, the newest `blobsPerStep` of them. They are taken from the group's inbox, where its
 * agent can change them, so only what is still what came counts. Rejects when they cannot be written.
 */
export async function keepMemberImages(
  { blobs, groupsFolder, hasRoom, logger }: MemberImagesOptions,
  group: string,
  messages: readonly StoredMessage[],
): Promise<ReadonlyMap<StoredAttachment, BlobPart>> {
  const kept = new Map<StoredAttachment, BlobPart>();
  const showable = messages.flatMap(({ attachments = [] }) => attachments.filter(isShowable)).slice(-blobsPerStep);
  if (showable.length === 0 || !(await hasRoom(group))) return kept;
  for (const attachment of showable) {
    const { path, mimeType, sha256 } = attachment.file;
    const copied = await blobs.keep(
      (target) => copyFromGroup(join(groupsFolder, group), path, target),
      (found) => found.sha256 === sha256,
    );
    const name = posix.basename(path);
    if (copied?.ok === true) kept.set(attachment, { kind: "image", blob: sha256, mimeType, bytes: copied.bytes, name });
    else logger.info({ group, path, reason: copied?.reason ?? "changed" }, "an image of a member cannot be shown");
  }
  return kept;
}

function isShowable(attachment: StoredAttachment): attachment is Showable {
  return attachment.kind === "image" && attachment.file?.sha256 !== undefined;
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
  return await folder.copyFile(names.at(-1) ?? "", target, { maxBytes: imageBytes });
}
