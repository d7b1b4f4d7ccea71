/** Bytes as Latin-1 text, each at its place. */
const signatures: readonly (readonly [mimeType: string, ...marks: (readonly [at: number, bytes: string])[]])[] = [
  ["image/jpeg", [0, "\xff\xd8\xff"]],
  ["image/png", [0, "\x89PNG\r\n\x1a\n"]],
  ["image/gif", [0, "GIF87a"]],
  ["image/gif", [0, "GIF89a"]],
  ["image/webp", [0, "RIFF"], [8, "WEBP"]],
  ["image/tiff", [0, "II*\0"]],
  ["image/tiff", [0, "MM\0*"]],
  ["image/avif", [4, "ftypavi"]],
  ["image/heic", [4, "ftyphe"]],
  ["image/heic", [4, "ftypmif"]],
  ["image/heic", [4, "ftypmsf"]],
];

/** Header of a Windows bitmap; its size stands between the two parts. */
const bitmap = [
  [0, "BM"],
  [6, "\0\0\0\0"],
] as const;

/** Bytes needed to recognize a picture type. */
export const pictureTypeBytes = 16;

/** By its first bytes; undefined for what cannot be shown. The host looks closer. */
export function pictureType(head: Buffer): string | undefined {
  const text = head.toString("latin1", 0, pictureTypeBytes);
  return signatures.find(([, ...marks]) => marks.every(([at, bytes]) => text.startsWith(bytes, at)))?.[0];
}

/** True for a picture type without a decoder. */
export function isBitmap(head: Buffer): boolean {
  const text = head.toString("latin1", 0, pictureTypeBytes);
  return bitmap.every(([at, bytes]) => text.startsWith(bytes, at));
}
