import type { FileHandle } from "node:fs/promises";

import { pictureType, pictureTypeBytes } from "../picture-type.ts";

/**
 * First bytes of documents, as Latin-1 text: PDF; archives, such as Word, Excel and EPUB files; and old Office files.
 */
const documents: readonly string[] = ["%PDF-", "PK\x03\x04", "PK\x05\x06", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"];

type FileKind = "document" | "picture" | "other";

/** Type of a file by its bytes, whatever its name. Does not move the read position. */
export async function fileKind(file: FileHandle): Promise<FileKind> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(pictureTypeBytes), 0, pictureTypeBytes, 0);
  const head = buffer.subarray(0, bytesRead);
  if (pictureType(head) !== undefined) return "picture";
  return documents.some((bytes) => head.toString("latin1").startsWith(bytes)) ? "document" : "other";
}
