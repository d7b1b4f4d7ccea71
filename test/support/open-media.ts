import { join } from "node:path";

import { pino } from "pino";

import { Media } from "../../src/abilities/media/media.ts";
import type { PictureOptions } from "../../src/abilities/media/keep-picture.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Opens the media process with a blob folder; collects all events in `told`. */
export async function openMedia(): Promise<
  Omit<PictureOptions, "blobs"> & { readonly told: Parameters<PictureOptions["publish"]>[0][] } & AsyncDisposable
> {
  const root = await temporaryFolder();
  const media = new Media({ folder: join(root.path, "media") });
  const told: Parameters<PictureOptions["publish"]>[0][] = [];
  return {
    media,
    told,
    publish: async (event) => void told.push(event),
    logger: pino({ level: "silent" }),
    [Symbol.asyncDispose]: async () => {
      await media[Symbol.asyncDispose]();
      await root[Symbol.asyncDispose]();
    },
  };
}
