import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

export { pngFile, pngOf } from "../../redteam/suite/pictures.ts";
import { requireProgram } from "./debian-program.ts";

const run = promisify(execFile);

/** Programs that make pictures, each with its package in Debian. */
const programs = {
  convert: "imagemagick",
  identify: "imagemagick",
  "heif-enc": "libheif-examples",
  cwebp: "webp",
  avifenc: "libavif-bin",
  exiftool: "libimage-exiftool-perl",
} as const;

/** Runs one of them in this folder, after it was installed where it was not. */
export async function makePicture(
  folder: string,
  program: keyof typeof programs,
  ...words: readonly string[]
): Promise<string> {
  await requireProgram(`/usr/bin/${program}`, programs[program]);
  const { stdout } = await run(`/usr/bin/${program}`, [...words], { cwd: folder, maxBuffer: 16 * 1024 * 1024 });
  return stdout;
}

/** The colours of a picture's pixels in rows, three bytes each, as ImageMagick reads them. */
export async function pixelsOf(
  folder: string,
  content: Buffer,
): Promise<{ readonly width: number; readonly height: number; readonly colours: Buffer }> {
  const [file, raw] = [join(folder, "looked-at"), join(folder, "looked-at.rgb")];
  await writeFile(file, content);
  const size = await makePicture(folder, "identify", "-format", "%w %h", `${file}[0]`);
  await makePicture(folder, "convert", `${file}[0]`, "-depth", "8", `rgb:${raw}`);
  const [width = 0, height = 0] = size.split(" ").map(Number);
  return { width, height, colours: await readFile(raw) };
}

/** Average and maximum color difference, of 255. */
export function difference(one: Buffer, other: Buffer): { readonly mean: number; readonly worst: number } {
  let [sum, worst] = [0, 0];
  for (let at = 0; at < one.length; at += 1) {
    const away = Math.abs((one[at] ?? 0) - (other[at] ?? 0));
    sum += away;
    worst = Math.max(worst, away);
  }
  return { mean: sum / one.length, worst };
}

/**
 * A GIF that is known to have three frames with many times as many: what is between its head and its last byte is there
 * again and again.
 */
export function deepGif(three: Buffer, times: number): Buffer {
  const colours = 3 * 2 ** (((three[10] ?? 0) & 7) + 1);
  const head = three.subarray(0, 13 + ((three[10] ?? 0) & 0x80 ? colours : 0));
  const body = three.subarray(head.length, -1);
  return Buffer.concat([head, ...Array.from({ length: times }, () => body), three.subarray(-1)]);
}
