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
