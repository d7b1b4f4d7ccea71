import { createHash } from "node:crypto";
import { appendFile, copyFile, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateSync } from "node:zlib";

import * as fc from "fast-check";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";

import { sniffFileType } from "../../../../src/lib/files/file-type.ts";
import { Media, mediaLimits } from "../../../../src/abilities/media/media.ts";
import type { MediaResult } from "../../../../src/abilities/media/media-error.ts";
import { gifBomb } from "../../../../redteam/suite/pictures.ts";
import { deepGif, difference, makePicture, pixelsOf, pngFile } from "../../../support/picture-files.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const request = { maxBytes: 1_000_000, maxPixels: 40_000_000, photoEdge: 1568, documentEdge: 2048 };

interface Shown extends MediaResult<"picture"> {
  readonly content: Buffer;
}

/** crabpot's own media process: starting it, and loading its decoders, takes longer than most pictures. */
async function openProcess() {
  const root = await temporaryFolder();
  const failures: string[] = [];
  // Not ended between two tests, however long each takes.
  const limits = { ...mediaLimits, idleMs: 600_000 };
  const media = new Media({
    folder: join(root.path, "media"),
    limits,
    onFailure: (_, reason) => failures.push(reason),
  });
  {
    // Begun by the first picture, which so is not that of a test: the process outlives it.
    await using work = await media.open();
    await sharp({ create: { width: 1, height: 1, channels: 3, background: "red" } })
      .png()
      .toFile(work.input);
    await work.run("picture", request);
  }
  return {
    media,
    failures,
    [Symbol.asyncDispose]: async () => {
      await media[Symbol.asyncDispose]();
      await root[Symbol.asyncDispose]();
    },
  };
}

const shared = await openProcess();
afterAll(() => shared[Symbol.asyncDispose]());

/** A folder in which programs make pictures, and a process that reads them. */
async function openRig({ media, failures: all } = shared) {
  const root = await temporaryFolder();
  const folder = root.path;
  const before = all.length;
  const show = async (name: string, more: Partial<typeof request> = {}): Promise<Shown> => {
    await using work = await media.open();
    await copyFile(join(folder, name), work.input);
    const result = await work.run("picture", { ...request, ...more });
    const target = join(folder, `shown-${name}`);
    await work.takeOutput(target, request.maxBytes);
    const content = await readFile(target);
    await rm(target);
    return { ...result, content };
  };
  return {
    folder,
    failures: () => all.slice(before),
    show,
    refusal: async (name: string) =>
      show(name).then(
        () => "none",
        (error: unknown) => (error as Error).message,
      ),
    make: (program: Parameters<typeof makePicture>[1], ...words: string[]) => makePicture(folder, program, ...words),
    pixels: (content: Buffer) => pixelsOf(folder, content),
    [Symbol.asyncDispose]: () => root[Symbol.asyncDispose](),
  };
}

/** Wider than high, each corner of another colour, and without sharp edges, which JPEG blurs. */
const corners = [
  "-size",
  "2x2",
  "xc:red",
  "-fill",
  "lime",
  "-draw",
  "point 1,0",
  "-fill",
  "blue",
  "-draw",
  "point 0,1",
];
const smooth = [...corners, "-fill", "yellow", "-draw", "point 1,1", "-filter", "triangle", "-resize", "96x64!"];

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "a photograph with the orientation %d is turned upright, each pixel",
  async (orientation) => {
    await using rig = await openRig();
    await rig.make("convert", ...smooth, "-quality", "98", "photo.jpg");
    await rig.make("exiftool", "-overwrite_original", `-Orientation#=${orientation}`, "photo.jpg");
    await rig.make("convert", "photo.jpg", "-auto-orient", "upright.png");

    const shown = await rig.show("photo.jpg");

    const [found, wanted] = [
      await rig.pixels(shown.content),
      await rig.pixels(await readFile(join(rig.folder, "upright.png"))),
    ];
    expect([found.width, found.height]).toEqual(orientation < 5 ? [96, 64] : [64, 96]);
    expect([found.width, found.height]).toEqual([wanted.width, wanted.height]);
    const away = difference(found.colours, wanted.colours);
    expect(away.mean).toBeLessThan(4);
    expect(away.worst).toBeLessThan(40);
  },
);

test("of each kind the picture is the same that a program put in", async () => {
  await using rig = await openRig();
  await rig.make("convert", ...smooth, "a.png");
  await rig.make("convert", "a.png", "-quality", "95", "a.jpg");
  await rig.make("convert", "a.png", "a.gif");
  await rig.make("cwebp", "-quiet", "-q", "95", "a.png", "-o", "a.webp");
  await rig.make("heif-enc", "-q", "90", "a.png", "-o", "a.heic");
  await rig.make("avifenc", "--min", "5", "--max", "10", "a.png", "a.avif");
  const wanted = await rig.pixels(await readFile(join(rig.folder, "a.png")));

  for (const kind of ["jpeg", "png", "gif", "webp", "heic", "avif"]) {
    const shown = await rig.show(kind === "jpeg" ? "a.jpg" : `a.${kind}`);
    expect(shown).toMatchObject({ from: `image/${kind}`, width: 96, height: 64, frames: 1 });
    const found = await rig.pixels(shown.content);
    expect([kind, difference(found.colours, wanted.colours).mean < 8]).toEqual([kind, true]);
  }
});

test("where it was taken and whatever else is written into it is gone", async () => {
  await using rig = await openRig();
  await rig.make("convert", ...smooth, "photo.jpg");
  const tags = [
    "-GPSLatitude=48.2082",
    "-GPSLatitudeRef=N",
    "-Artist=Ann Secret",
    "-Comment=at home",
    "-XMP:City=Vienna",
  ];
  await rig.make("exiftool", "-overwrite_original", ...tags, "photo.jpg");
  await rig.make("convert", "photo.jpg", "-set", "Note", "Ann Secret", "photo.png");
  await rig.make("exiftool", "-overwrite_original", "-XMP:City=Vienna", "photo.png");

  for (const name of ["photo.jpg", "photo.png"]) {
    expect((await readFile(join(rig.folder, name))).toString("latin1")).toContain("Vienna");
    const { content } = await rig.show(name);
    await writeFile(join(rig.folder, "shown"), content);
    const told = await rig.make("exiftool", "-a", "-G", "--ExifTool:all", "shown");
    expect(told).toContain("Image Width");
    expect(told).not.toMatch(/GPS|EXIF|XMP|Secret|Vienna|at home/);
    expect(content.toString("latin1")).not.toMatch(/Exif|Vienna|Secret/);
  }
});

test("a photograph is 1568 pixels long at most, a scan and a screenshot 2048, and none is made larger", async () => {
  await using rig = await openRig();
  await rig.make("convert", "-size", "3000x2000", "plasma:navy-darkgreen", "photo.jpg");
  await rig.make(
    "convert",
    "-size",
    "2000x3000",
    "xc:white",
    "-fill",
    "black",
    "-draw",
    "rectangle 100,100 800,140",
    "scan.jpg",
  );
  await rig.make(
    "convert",
    "-size",
    "3000x2000",
    "xc:#202020",
    "-fill",
    "white",
    "-draw",
    "rectangle 9,9 800,40",
    "screen.png",
  );
  await rig.make("convert", "-size", "300x200", "plasma:", "small.jpg");

  const sizes: number[][] = [];
  for (const name of ["photo.jpg", "scan.jpg", "screen.png", "small.jpg"]) {
    const { width, height } = await rig.show(name);
    sizes.push([width, height]);
  }
  expect(sizes).toEqual([
    [1568, 1045],
    [1365, 2048],
    [2048, 1365],
    [300, 200],
  ]);
});

test("what has few colours or is seen through stays PNG where that is smaller; noise becomes JPEG of at most 1 MB", async () => {
  await using rig = await openRig();
  await rig.make(
    "convert",
    "-size",
    "800x600",
    "xc:white",
    "-fill",
    "red",
    "-draw",
    "circle 400,300 400,100",
    "drawing.png",
  );
  await rig.make(
    "convert",
    "-size",
    "64x64",
    "xc:none",
    "-fill",
    "blue",
    "-draw",
    "rectangle 16,16 48,48",
    "clear.png",
  );
  await rig.make("convert", "-size", "2048x2048", "xc:gray", "+noise", "Random", "noise.png");

  const [drawing, clear, noise] = [
    await rig.show("drawing.png"),
    await rig.show("clear.png"),
    await rig.show("noise.png"),
  ];

  expect([drawing.to, clear.to, noise.to]).toEqual(["image/png", "image/png", "image/jpeg"]);
  await writeFile(join(rig.folder, "shown"), clear.content);
  expect(await rig.make("convert", "shown", "-format", "%[fx:p{2,2}.a] %[fx:p{32,32}.a]", "info:")).toBe("0 1");
  expect(noise.content.length).toBeLessThanOrEqual(1_000_000);
});

test("of one that moves the first frame is shown, and how many there are is told", async () => {
  await using rig = await openRig();
  await rig.make("convert", "-delay", "10", "-size", "40x40", "xc:red", "xc:blue", "xc:lime", "moving.gif");
  await writeFile(join(rig.folder, "deep.gif"), deepGif(await readFile(join(rig.folder, "moving.gif")), 500));

  const shown = await rig.show("moving.gif");

  expect(shown.frames).toBe(3);
  expect((await rig.pixels(shown.content)).colours.subarray(0, 3)).toEqual(Buffer.from([255, 0, 0]));
  expect((await rig.show("deep.gif")).frames).toBe(1500);
});

test("a sequence in AVIF is refused with what to do, and of several pictures in HEIC the first one is shown", async () => {
  await using rig = await openRig();
  for (const [index, colour] of ["red", "blue", "lime"].entries())
    await rig.make("convert", "-size", "40x40", `xc:${colour}`, `${index}.png`);
  await rig.make("avifenc", "0.png", "1.png", "2.png", "moving.avif");
  await rig.make("convert", "-size", "96x64", "plasma:", "wide.jpg");
  await rig.make("convert", "-size", "64x96", "plasma:", "high.jpg");
  await rig.make("heif-enc", "wide.jpg", "high.jpg", "-o", "two.heic");

  expect(sniffFileType(await readFile(join(rig.folder, "moving.avif"))).mimeType).toBe("image/avif");
  expect(await rig.refusal("moving.avif")).toBe(
    "this kind of AVIF, such as a sequence, cannot be read; save the picture as JPEG or PNG",
  );
  expect(await rig.show("two.heic")).toMatchObject({ width: 96, height: 64, frames: 2 });
  expect(rig.failures()).toEqual([]);
});

test("any damage to a file of pictures ends in a picture or in words, and where the file lies is not among them", async () => {
  await using rig = await openRig();
  await rig.make("convert", "-size", "64x48", "plasma:", "a.jpg");
  await rig.make("avifenc", "a.jpg", "a.avif");
  await rig.make("heif-enc", "a.jpg", "-o", "a.heic");
  const files = await Promise.all(["a.avif", "a.heic"].map((name) => readFile(join(rig.folder, name))));

  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...files),
      fc.array(fc.tuple(fc.nat(600), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      async (file, changes) => {
        const damaged = Buffer.from(file);
        for (const [at, byte] of changes) damaged[at] = byte;
        await writeFile(join(rig.folder, "damaged"), damaged);
        expect(await rig.refusal("damaged")).not.toContain(rig.folder);
      },
    ),
    { numRuns: 60 },
  );
  expect(rig.failures()).toEqual([]);
});

function hashOf({ content }: Shown): string {
  return createHash("sha256").update(content).digest("hex");
}

test("the same picture comes out as the same bytes, also from another process", async () => {
  await using one = await openRig();
  await using process = await openProcess();
  await using other = await openRig(process);
  await one.make("convert", "-seed", "7", "-size", "2500x1800", "plasma:", "photo.jpg");
  await copyFile(join(one.folder, "photo.jpg"), join(other.folder, "photo.jpg"));

  const all = [await one.show("photo.jpg"), await one.show("photo.jpg"), await other.show("photo.jpg")].map(hashOf);

  expect(new Set(all).size).toBe(1);
});

test("what says that it is enormous is not decoded, and costs nothing", async () => {
  await using rig = await openRig();
  await writeFile(
    join(rig.folder, "bomb.png"),
    pngFile({ width: 100_000, height: 100_000 }, deflateSync(Buffer.alloc(1_000_000))),
  );
  await writeFile(join(rig.folder, "bomb.gif"), gifBomb(1));
  await rig.make("convert", "-size", "6400x6400", "xc:red", "large.png");

  expect(await rig.refusal("bomb.png")).toBe("it has 100000 × 100000 pixels, and at most 40 megapixels are decoded");
  expect(await rig.refusal("bomb.gif")).toBe("it has 65535 × 65535 pixels, and at most 40 megapixels are decoded");
  expect(await rig.refusal("large.png")).toBe("it has 6400 × 6400 pixels, and at most 40 megapixels are decoded");
  expect(rig.failures()).toEqual([]);
});

test("TIFF files as scanners and cameras write them are shown: packed, with 16 bits, for printing, with several pages", async () => {
  await using rig = await openRig();
  const size = ["-size", "400x300"];
  await rig.make("convert", ...size, "gradient:red-blue", "whole.png");
  await rig.make("convert", "whole.png", "-compress", "lzw", "packed.tif");
  await rig.make("convert", "whole.png", "-depth", "16", "-compress", "zip", "deep.tif");
  await rig.make("convert", "whole.png", "-endian", "MSB", "big.tif");
  await rig.make("convert", "whole.png", "-colorspace", "CMYK", "printed.tif");
  await rig.make("convert", ...size, "xc:white", "-colorspace", "gray", "-compress", "group4", "fax.tif");
  await rig.make("convert", "whole.png", "fax.tif", "pages.tif");
  const { colours } = await rig.pixels(await readFile(join(rig.folder, "whole.png")));

  for (const name of ["packed.tif", "deep.tif", "big.tif", "pages.tif"]) {
    const shown = await rig.show(name);
    const seen = await rig.pixels(shown.content);
    expect(shown).toMatchObject({ from: "image/tiff", width: 400, height: 300, frames: name === "pages.tif" ? 2 : 1 });
    expect(`${name} ${difference(seen.colours, colours).mean < 4}`).toBe(`${name} true`);
  }
  for (const name of ["printed.tif", "fax.tif"])
    expect(await rig.show(name)).toMatchObject({ width: 400, height: 300 });
  await truncate(join(rig.folder, "packed.tif"), 1_000);
  expect(await rig.refusal("packed.tif")).not.toMatch(/none$|has ended/);
  expect(rig.failures()).toEqual([]);
});

test("what is cut off, is something else or only begins as a picture is refused, and the next one is shown", async () => {
  await using rig = await openRig();
  const file = (name: string): string => join(rig.folder, name);
  await rig.make("convert", "-size", "400x300", "plasma:", "whole.jpg");
  await rig.make("heif-enc", "whole.jpg", "-o", "cut.heic");
  await rig.make("convert", "whole.jpg", "cut.png");
  await copyFile(file("whole.jpg"), file("cut.jpg"));
  for (const name of ["cut.jpg", "cut.png", "cut.heic"]) await truncate(file(name), 4_000);
  await writeFile(file("vector.png"), '<svg xmlns="http://www.w3.org/2000/svg"><image href="/etc/passwd"/></svg>');
  await writeFile(file("page.jpg"), "%PDF-1.7 and so on");
  await writeFile(file("script.gif"), "GIF89a/*.............*/=1;alert(1)");
  await writeFile(file("empty.png"), "");

  for (const name of ["cut.jpg", "cut.png", "cut.heic", "script.gif"])
    expect(`${name}: ${await rig.refusal(name)}`).not.toMatch(/: none$|has ended/);
  for (const name of ["vector.png", "page.jpg", "empty.png"])
    expect(await rig.refusal(name)).toBe("it is no JPEG, PNG, GIF, WebP, TIFF, HEIC or AVIF picture");
  await appendFile(file("whole.jpg"), "PK\x03\x04 an archive behind the picture");
  expect((await rig.show("whole.jpg")).content.toString("latin1")).not.toContain("an archive");
  expect(rig.failures()).toEqual([]);
});
