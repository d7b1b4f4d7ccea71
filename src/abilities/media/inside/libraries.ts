import type HeicDecoding from "heic-decode";
import type Sharp from "sharp";

import { MediaError } from "../media-error.ts";

type SharpLibrary = typeof Sharp;

type HeicDecoder = typeof HeicDecoding;

/** Formats that libvips may open, of the many that it can. */
const readers = ["Jpeg", "Png", "Nsgif", "Webp", "Tiff", "Heif"].map((name) => `VipsForeignLoad${name}File`);

/** Decodes and writes pictures. */
export async function loadSharp(): Promise<SharpLibrary> {
  const { default: sharp } = await import("sharp").catch(missing("sharp"));
  sharp.cache(false);
  // The same picture gives the same bytes, whatever the machine, and turns have the other processors.
  sharp.concurrency(1);
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({ operation: readers });
  return sharp;
}

/** Decodes HEIC, for which sharp has no codec. */
export async function loadHeicDecoder(): Promise<HeicDecoder> {
  const { default: decoder } = await import("heic-decode").catch(missing("heic-decode"));
  return decoder;
}

function missing(name: string): (cause: unknown) => never {
  return (cause) => {
    throw new MediaError("missing", `the package ${name} is not installed`, { cause });
  };
}
