import type { BlobPart } from "../domain/part.ts";
import { imageTypes } from "../domain/part.ts";
import { sniffFileType } from "../lib/files/file-type.ts";
import { hiddenCharacter } from "../lib/text/hidden-characters.ts";
import type { HostileCopy } from "../lib/files/open-hostile-file.ts";
import type { BlobFolder } from "./blob-folder.ts";

export interface KeepImageOptions {
  readonly blobs: BlobFolder;
  /** Whether there is room for another image of this group. */
  readonly hasRoom: (group: string) => Promise<boolean>;
}

/** An image that a tool wants to show. */
export interface ShownImage {
  readonly group: string;
  readonly name: string;
  /** Copies its bytes to a new file of ours. */
  readonly copy: (target: string) => Promise<HostileCopy>;
}

/** Keeps what a tool shows, if it is an image by its bytes. A string says why it cannot be shown. */
export async function keepImage(
  { blobs, hasRoom }: KeepImageOptions,
  { group, name, copy }: ShownImage,
): Promise<BlobPart | string> {
  if (!(await hasRoom(group))) return "there is no room for more images of this group";
  const copied = await blobs.keep(copy, ({ head }) => imageTypes.has(sniffFileType(head).mimeType));
  if (!copied) return "it is no JPEG, PNG, GIF or WebP image";
  if (!copied.ok) return `it could not be taken (${copied.reason})`;
  const { sha256: blob, bytes, head } = copied;
  return { kind: "image", blob, mimeType: sniffFileType(head).mimeType, bytes, name: cleanName(name) };
}

/** One line, and nothing that could end the brackets in which a part is described. */
function cleanName(name: string): string {
  const clean = name.toWellFormed().replaceAll(hiddenCharacter, "_").replaceAll(/[[\]]/g, "_");
  return clean === "" ? "image" : clean;
}
