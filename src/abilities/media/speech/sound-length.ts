import type { MediaWork } from "../media.ts";
import { MediaError, type MediaResult } from "../operations.ts";

/**
 * Seconds of the sound that this work is about, to a tenth; undefined where nobody can tell. Rejects with the signal's
 * reason.
 */
export async function soundLength(work: MediaWork, signal: AbortSignal): Promise<number | undefined> {
  return (await measureSound(work, { waveform: false }, signal)).seconds;
}

/** The same, with how loud it is where phones draw that; what nobody can tell is left out. */
export async function measureSound(
  work: MediaWork,
  request: { readonly waveform: boolean },
  signal: AbortSignal,
): Promise<Partial<MediaResult<"sound">>> {
  try {
    const { seconds, waveform } = await work.run("sound", request, signal);
    return { seconds: Math.round(seconds * 10) / 10, ...(waveform && { waveform }) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof MediaError) return {};
    throw error;
  }
}
