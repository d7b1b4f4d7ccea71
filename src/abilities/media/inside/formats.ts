import { heifKind } from "../../../lib/files/heif-kind.ts";

/** Supported picture formats. */
export type PictureFormat = "jpeg" | "png" | "gif" | "webp" | "tiff" | "heic" | "avif";

/** By the first bytes alone; undefined for all else. */
export function pictureFormat(content: Buffer): PictureFormat | undefined {
  const has = (at: number, bytes: string): boolean =>
    content.subarray(at, at + bytes.length).equals(Buffer.from(bytes, "latin1"));
  if (has(0, "\xff\xd8\xff")) return "jpeg";
  if (has(0, "\x89PNG\r\n\x1a\n")) return "png";
  if (has(0, "GIF87a") || has(0, "GIF89a")) return "gif";
  if (has(0, "RIFF") && has(8, "WEBP")) return "webp";
  if (has(0, "II*\0") || has(0, "MM\0*")) return "tiff";
  return heifKind(content);
}
