import { heifKind } from "./heif-kind.ts";

/** A file type, detected by the first bytes. */
export interface FileType {
  readonly mimeType: string;
  /** Without the dot. */
  readonly extension: string;
}

/** Number of bytes that `sniffFileType` reads. */
export const sniffedBytes = 4_096;

interface Signature extends FileType {
  /** Bytes as Latin-1 text, each at its place. */
  readonly marks: readonly (readonly [offset: number, bytes: string])[];
}

function type(mimeType: string, extension: string, ...marks: Signature["marks"]): Signature {
  return { mimeType, extension, marks };
}

const signatures: readonly Signature[] = [
  type("image/jpeg", "jpg", [0, "\xff\xd8\xff"]),
  type("image/png", "png", [0, "\x89PNG\r\n\x1a\n"]),
  type("image/gif", "gif", [0, "GIF8"]),
  type("image/webp", "webp", [0, "RIFF"], [8, "WEBP"]),
  type("image/bmp", "bmp", [0, "BM"], [6, "\0\0\0\0"]),
  type("image/tiff", "tiff", [0, "II*\0"]),
  type("image/tiff", "tiff", [0, "MM\0*"]),
  type("audio/mp4", "m4a", [4, "ftypM4A"]),
  type("video/quicktime", "mov", [4, "ftypqt"]),
  type("video/3gpp", "3gp", [4, "ftyp3g"]),
  type("video/mp4", "mp4", [4, "ftyp"]),
  type("video/webm", "webm", [0, "\x1a\x45\xdf\xa3"]),
  type("audio/ogg", "ogg", [0, "OggS"]),
  type("audio/mpeg", "mp3", [0, "ID3"]),
  // Frames of MPEG-1, 2 and 2.5, with a checksum and without.
  ...["\xfb", "\xfa", "\xf3", "\xf2", "\xe3", "\xe2"].map((second) => type("audio/mpeg", "mp3", [0, `\xff${second}`])),
  type("audio/aac", "aac", [0, "\xff\xf1"]),
  type("audio/aac", "aac", [0, "\xff\xf9"]),
  type("audio/aiff", "aiff", [0, "FORM"], [8, "AIF"]),
  type("audio/x-caf", "caf", [0, "caff\0\x01"]),
  type("audio/flac", "flac", [0, "fLaC"]),
  type("audio/wav", "wav", [0, "RIFF"], [8, "WAVE"]),
  type("audio/amr", "amr", [0, "#!AMR"]),
  type("application/pdf", "pdf", [0, "%PDF-"]),
  type("application/zip", "zip", [0, "PK\x03\x04"]),
  type("application/gzip", "gz", [0, "\x1f\x8b"]),
  type("application/x-7z-compressed", "7z", [0, "7z\xbc\xaf\x27\x1c"]),
  type("application/x-xz", "xz", [0, "\xfd7zXZ\0"]),
  type("application/zstd", "zst", [0, "\x28\xb5\x2f\xfd"]),
  type("application/vnd.sqlite3", "sqlite", [0, "SQLite format 3\0"]),
];

const unknownType: FileType = { mimeType: "application/octet-stream", extension: "bin" };
const plainText: FileType = { mimeType: "text/plain", extension: "txt" };

const office = "application/vnd.openxmlformats-officedocument";
/** File endings that refine a detected general type. */
const finerTypes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "application/zip": {
    docx: `${office}.wordprocessingml.document`,
    xlsx: `${office}.spreadsheetml.sheet`,
    pptx: `${office}.presentationml.presentation`,
    odt: "application/vnd.oasis.opendocument.text",
    ods: "application/vnd.oasis.opendocument.spreadsheet",
    epub: "application/epub+zip",
  },
  "text/plain": {
    csv: "text/csv",
    json: "application/json",
    md: "text/markdown",
    html: "text/html",
    svg: "image/svg+xml",
    ics: "text/calendar",
    vcf: "text/vcard",
  },
};

/**
 * Detects a content's type by its first bytes; the name only refines archives and text. Unknown content is
 * `application/octet-stream`, `.bin`.
 */
export function sniffFileType(head: Buffer, name = ""): FileType {
  const general = pictureOf(head) ?? signatures.find(({ marks }) => marks.every((mark) => hasMark(head, mark)));
  const found = general ?? (isText(head) ? plainText : unknownType);
  const extension = /\.([a-z0-9]{1,5})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  const finer = finerTypes[found.mimeType];
  const mimeType = finer && Object.hasOwn(finer, extension) ? finer[extension] : undefined;
  return mimeType === undefined ? { mimeType: found.mimeType, extension: found.extension } : { mimeType, extension };
}

function pictureOf(head: Buffer): FileType | undefined {
  const kind = heifKind(head);
  return kind && { mimeType: `image/${kind}`, extension: kind };
}

function hasMark(head: Buffer, [offset, bytes]: Signature["marks"][number]): boolean {
  return head.subarray(offset, offset + bytes.length).equals(Buffer.from(bytes, "latin1"));
}

/** UTF-8 without control characters but for those of a terminal; the last character may be cut. */
function isText(head: Buffer): boolean {
  if (head.length === 0 || head.some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27))) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}
