import { open, readFile, writeFile } from "node:fs/promises";

import type SharpTool from "sharp";
import type { Sharp } from "sharp";

import { MediaError, type MediaRequest, type MediaResult } from "../media-error.ts";
import { isMostlyPaper } from "./paper.ts";
import { pictureFormat, type PictureFormat } from "./formats.ts";
import { loadHeicDecoder, loadSharp } from "./libraries.ts";

type Request = MediaRequest<"picture">;
type Tool = typeof SharpTool;

/** Format names of sharp; AVIF is a kind of HEIF. */
const sharpNames: Readonly<Record<Exclude<PictureFormat, "heic">, string>> = {
  jpeg: "jpeg",
  png: "png",
  gif: "gif",
  webp: "webp",
  tiff: "tiff",
  avif: "heif",
};
/** Formats of drawn pictures, which may have few colors. */
const drawn: ReadonlySet<PictureFormat> = new Set(["png", "gif"]);
const qualities = [80, 65, 50, 35];
const headBytes = 4_096;
/** When no quality makes it small enough, its edges become so much shorter. */
const shorter = 0.7;
const shortestEdge = 32;

/** Pixels, upright and without anything else, no longer than a document's edge. */
interface Pixels {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 2 | 3 | 4;
}

interface Decoded {
  readonly pixels: Pixels;
  readonly frames: number;
}

/** Writes the picture for models. Throws MediaError, or the decoder's error for a damaged file. */
export async function shrinkPicture(input: string, output: string, request: Request): Promise<MediaResult<"picture">> {
  const format = pictureFormat(await readHead(input));
  if (format === undefined) throw refused("it is no JPEG, PNG, GIF, WebP, TIFF, HEIC or AVIF picture");
  const sharp = await loadSharp();
  const { pixels, frames } =
    format === "heic"
      ? await decodeHeic(sharp, await readFile(input), request)
      : await decode(sharp, input, { format, request });
  const isDocument = drawn.has(format) || isMostlyPaper(pixels);
  const sized = isDocument ? pixels : await fit(sharp, pixels, request.photoEdge);
  const written = await encode(sharp, await withoutIdleAlpha(sharp, sized), { format, isDocument, request });
  await writeFile(output, written.bytes, { flag: "wx", mode: 0o600 });
  return { from: `image/${format}`, to: written.to, width: written.width, height: written.height, frames };
}

async function decode(
  sharp: Tool,
  input: string,
  { format, request }: { readonly format: Exclude<PictureFormat, "heic">; readonly request: Request },
): Promise<Decoded> {
  const found = await sharp(input, { limitInputPixels: false })
    .metadata()
    .catch((error: unknown) => {
      if (format !== "avif") throw error;
      throw refused("this kind of AVIF, such as a sequence, cannot be read; save the picture as JPEG or PNG");
    });
  if (found.format !== sharpNames[format]) throw refused(`it begins as ${format} and goes on as something else`);
  requireFew(found.width, found.pageHeight ?? found.height, request.maxPixels);
  const { maxPixels: limitInputPixels, documentEdge: edge } = request;
  const upright = sharp(input, { limitInputPixels, failOn: "error" }).autoOrient();
  return { pixels: await toPixels(upright, edge), frames: found.pages ?? 1 };
}

/** Decodes the first picture of the file. The decoder turns it upright itself, and knows nothing of colour profiles. */
async function decodeHeic(sharp: Tool, buffer: Buffer, { maxPixels, documentEdge }: Request): Promise<Decoded> {
  const images = await (await loadHeicDecoder()).all({ buffer });
  try {
    const [image] = images;
    if (!image) throw refused("there is no picture in it");
    requireFew(image.width, image.height, maxPixels);
    const { data, width, height } = await image.decode();
    const raw = { width, height, channels: 4 } as const;
    const whole = sharp(Buffer.from(data.buffer, data.byteOffset, data.byteLength), { raw });
    return { pixels: await toPixels(whole, documentEdge), frames: images.length };
  } finally {
    images.dispose();
  }
}

function requireFew(width: number, height: number, most: number): void {
  if (width * height > most)
    throw refused(`it has ${width} × ${height} pixels, and at most ${most / 1_000_000} megapixels are decoded`);
}

async function toPixels(picture: Sharp, edge: number): Promise<Pixels> {
  const { data, info } = await picture
    .resize({ width: edge, height: edge, fit: "inside", withoutEnlargement: true })
    .toColourspace("srgb")
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, channels: info.channels };
}

function fromPixels(sharp: Tool, { data, width, height, channels }: Pixels): Sharp {
  return sharp(data, { raw: { width, height, channels } });
}

async function fit(sharp: Tool, pixels: Pixels, edge: number): Promise<Pixels> {
  return Math.max(pixels.width, pixels.height) <= edge ? pixels : toPixels(fromPixels(sharp, pixels), edge);
}

/** Drops an alpha channel that is opaque everywhere. */
async function withoutIdleAlpha(sharp: Tool, pixels: Pixels): Promise<Pixels> {
  const { data, channels } = pixels;
  if (channels % 2 === 1) return pixels;
  for (let at = channels - 1; at < data.length; at += channels) if (data[at] !== 255) return pixels;
  return toPixels(fromPixels(sharp, pixels).removeAlpha(), Math.max(pixels.width, pixels.height));
}

interface Written {
  readonly bytes: Buffer;
  readonly to: "image/jpeg" | "image/png";
  readonly width: number;
  readonly height: number;
}

/** Encodes as JPEG, or as PNG where smaller or transparent. */
async function encode(
  sharp: Tool,
  pixels: Pixels,
  how: { readonly format: PictureFormat; readonly isDocument: boolean; readonly request: Request },
): Promise<Written> {
  const { maxBytes } = how.request;
  for (let left = pixels; Math.max(left.width, left.height) >= 1;) {
    const { width, height, channels } = left;
    const mayBePng = drawn.has(how.format) || channels % 2 === 0;
    const png = mayBePng ? await fromPixels(sharp, left).png({ compressionLevel: 9 }).toBuffer() : undefined;
    for (const quality of qualities) {
      const chromaSubsampling = how.isDocument ? "4:4:4" : "4:2:0";
      const flat = fromPixels(sharp, left).flatten({ background: "#ffffff" });
      const jpeg = await flat.jpeg({ quality, chromaSubsampling }).toBuffer();
      if (png && png.length <= Math.min(maxBytes, jpeg.length)) return { bytes: png, to: "image/png", width, height };
      if (jpeg.length <= maxBytes) return { bytes: jpeg, to: "image/jpeg", width, height };
    }
    const edge = Math.floor(Math.max(width, height) * shorter);
    if (edge < shortestEdge) break;
    left = await fit(sharp, left, edge);
  }
  throw refused(`it could not be made smaller than ${maxBytes} bytes`);
}

async function readHead(path: string): Promise<Buffer> {
  await using file = await open(path, "r");
  const head = Buffer.alloc(headBytes);
  const { bytesRead } = await file.read(head, 0, headBytes, 0);
  return head.subarray(0, bytesRead);
}

function refused(message: string): MediaError {
  return new MediaError("refused", message);
}
