import type { Logger } from "pino";

import type { BlobPart } from "../../domain/chats/part.ts";
import { imageBytes, imageTypes, originalTypes } from "../../domain/chats/part.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { HostileCopy } from "../../lib/files/open-hostile-file.ts";
import { sniffFileType } from "../../lib/files/file-type.ts";
import { hiddenCharacter } from "../../lib/text/hidden-characters.ts";
import type { Media, MediaWork } from "./media.ts";
import { MediaError, type MediaResult } from "./media-error.ts";
import type { BlobFolder } from "../../stores/blobs/blob-folder.ts";

export interface PictureOptions {
  readonly blobs: BlobFolder;
  readonly media: Pick<Media, "open">;
  readonly publish: Publish<"picture.kept" | "picture.refused">;
  readonly logger: Logger;
}

type Copied = Extract<HostileCopy, { ok: true }>;

/** A picture as it came. */
export interface OriginalPicture {
  readonly group: string;
  readonly name: string;
  /** Copies its bytes to a new file of ours. */
  readonly copy: (target: string) => Promise<HostileCopy>;
  /** Additional refusal, besides files that are no pictures. */
  readonly refuse?: (copied: Copied) => string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Size of pictures for models: vendors scale larger ones down, and charge by size. */
const shown = { maxBytes: 1_000_000, maxPixels: 40_000_000, photoEdge: 1_568, documentEdge: 2_048 } as const;

/**
 * Keeps a picture as models are shown it, if it is one by its bytes. A string says why it cannot be shown. The original
 * is read by the media process alone; the same original comes out as the same bytes, so a host that is killed in
 * between does the same again.
 */
export async function keepPicture(options: PictureOptions, original: OriginalPicture): Promise<BlobPart | string> {
  const { group, name, copy, refuse, signal } = original;
  await using work = await options.media.open();
  const copied = await copy(work.input);
  if (!copied.ok) return `it could not be taken (${copied.reason})`;
  const refusal = originalTypes.has(sniffFileType(copied.head).mimeType) ? refuse?.(copied) : notOne;
  if (refusal !== undefined) return refusal;
  const from = { bytes: copied.bytes, name: cleanName(name) };
  try {
    const made = await work.run("picture", shown, signal);
    return await keepMade(options, work, { ...original, from, made });
  } catch (error) {
    if (signal?.aborted) return "reading it took too long";
    if (!(error instanceof MediaError)) throw error;
    if (error.failure === "missing") return await keepAsItIs(options, work, { from, why: error.message });
    options.logger.info({ group, failure: error.failure, why: error.message }, "a picture cannot be shown");
    await options.publish({ type: "picture.refused", group, actor: "host", data: { failure: error.failure } });
    return error.message;
  }
}

export interface KeepImageOptions extends PictureOptions {
  /** Whether there is room for another image of this group. */
  readonly hasRoom: (group: string) => Promise<boolean>;
}

/** An image that a tool wants to show. */
export type ShownImage = Pick<OriginalPicture, "group" | "name" | "copy" | "signal">;

/** Keeps what a tool shows, if it is a picture by its bytes. A string says why it cannot be shown. */
export async function keepImage(options: KeepImageOptions, image: ShownImage): Promise<BlobPart | string> {
  if (!(await options.hasRoom(image.group))) return "there is no room for more images of this group";
  return keepPicture(options, image);
}

const notOne = "it is no JPEG, PNG, GIF, WebP, TIFF, HEIC or AVIF picture";

interface Original {
  readonly bytes: number;
  readonly name: string;
}

async function keepMade(
  { blobs, publish }: PictureOptions,
  work: MediaWork,
  { group, from, made }: { readonly group: string; readonly from: Original; readonly made: MediaResult<"picture"> },
): Promise<BlobPart> {
  const kept = await blobs.keep(
    (target) => work.takeOutput(target, shown.maxBytes),
    ({ head }) => sniffFileType(head).mimeType === made.to,
  );
  if (kept?.ok !== true)
    throw new MediaError("failed", "what the process that reads such files has made is no picture");
  const { sha256: blob, bytes } = kept;
  const data = { blob, bytes, originalBytes: from.bytes, ...made };
  await publish({ type: "picture.kept", group, actor: "host", data });
  const { frames } = made;
  return { kind: "image", blob, mimeType: made.to, bytes, name: from.name, ...(frames > 1 && { frames }) };
}

/** Without what decodes pictures, those go through that all vendors take. */
async function keepAsItIs(
  { blobs }: PictureOptions,
  work: MediaWork,
  { from, why }: { readonly from: Original; readonly why: string },
): Promise<BlobPart | string> {
  const kept = await blobs.keep(
    (target) => work.takeInput(target, imageBytes),
    ({ head }) => imageTypes.has(sniffFileType(head).mimeType),
  );
  if (kept?.ok !== true)
    return `${why}; without it only JPEG, PNG, GIF and WebP pictures of at most ${imageBytes} bytes are shown`;
  const { sha256: blob, bytes, head } = kept;
  return { kind: "image", blob, mimeType: sniffFileType(head).mimeType, bytes, name: from.name };
}

/** One line, and nothing that could end the brackets in which a part is described. */
function cleanName(name: string): string {
  const clean = name.toWellFormed().replaceAll(hiddenCharacter, "_").replaceAll(/[[\]]/g, "_");
  return clean === "" ? "image" : clean;
}
