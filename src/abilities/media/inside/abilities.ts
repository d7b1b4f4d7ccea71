import { MediaError, type MediaResult } from "../media-error.ts";
import { loadHeicDecoder, loadSharp } from "./libraries.ts";

/** Tries to load what pictures are read with. */
export async function tellAbilities(): Promise<MediaResult<"abilities">> {
  return { pictures: await loads(loadSharp), heic: await loads(loadHeicDecoder) };
}

async function loads(load: () => Promise<unknown>): Promise<boolean> {
  try {
    await load();
    return true;
  } catch (error) {
    if (error instanceof MediaError && error.failure === "missing") return false;
    throw error;
  }
}
