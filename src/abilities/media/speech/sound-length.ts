import type { MediaWork } from "../media.ts";
import { MediaError, type MediaResult } from "../media-error.ts";

/** Length of the sound in seconds, to a tenth; undefined when unknown. Rejects with the signal's reason. */
export async function soundLength(work: MediaWork, signal: AbortSignal): Promise<number | undefined> {
  return (await measureWithWorker(work, { waveform: false }, signal)).seconds;
}

/** Length, and loudness where phones draw it; unknown values are left out. */
export async function measureWithWorker(
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
