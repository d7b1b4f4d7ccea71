import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { MediaError } from "../media-error.ts";
import type { MediaRequest, MediaResult } from "../media-error.ts";
import { Moonshine, sampleRate } from "./moonshine.ts";
import { waveformOf } from "./waveform.ts";

/** Used parts of ogg-opus-decoder, which lies in the model's folder. */
interface OpusDecoder {
  readonly ready: Promise<unknown>;
  decodeFile(bytes: Uint8Array): Promise<{ readonly channelData: readonly Float32Array[] }>;
  free(): void;
}

interface OpusLibrary {
  readonly OggOpusDecoder: new (options: { sampleRate: number }) => OpusDecoder;
}

/** The model hears pieces of about this length best; each ends where it is quietest in its last part. */
const pieceSeconds = 20;
const searchedSeconds = 6;
const quietSeconds = 0.1;
/** Shorter ones hold no word. */
const leastSeconds = 0.2;

const models = new Map<string, Promise<Moonshine>>();

/** Length of a recording by its container, and its loudness. */
export async function measureSound(input: string, request: MediaRequest<"sound">): Promise<MediaResult<"sound">> {
  const { parseFile } = await import("music-metadata");
  const { format } = await parseFile(input, { duration: true, skipCovers: true });
  const { duration } = format;
  // Of a recording that was cut off, nothing is counted.
  if (duration === undefined || !(Number.isFinite(duration) && duration > 0))
    throw new MediaError("refused", "its length is not known");
  const waveform = request.waveform ? waveformOf(await readFile(input)) : undefined;
  return { seconds: duration, ...(waveform && { waveform }) };
}

/** Transcribes an Ogg Opus recording. */
export async function transcribe(
  input: string,
  { model: folder, mostSeconds }: MediaRequest<"transcribe">,
): Promise<MediaResult<"transcribe">> {
  const samples = await decode(input, folder);
  if (samples.length > mostSeconds * sampleRate)
    throw new MediaError("refused", `it is longer than ${Math.round(mostSeconds / 60)} minutes`);
  const loaded = models.get(folder) ?? Moonshine.load(folder);
  models.set(folder, loaded);
  const model = await loaded;
  const said: string[] = [];
  for (const piece of piecesOf(samples)) said.push(await model.hear(piece));
  return { text: said.filter((text) => text !== "").join(" ") };
}

async function decode(input: string, folder: string): Promise<Float32Array> {
  const place = createRequire(join(folder, "index.js")).resolve("ogg-opus-decoder");
  const { OggOpusDecoder } = (await import(pathToFileURL(place).href)) as OpusLibrary;
  const decoder = new OggOpusDecoder({ sampleRate });
  try {
    await decoder.ready;
    const { channelData } = await decoder.decodeFile(new Uint8Array(await readFile(input)));
    if ((channelData[0]?.length ?? 0) === 0) throw new MediaError("refused", "it is no Ogg Opus recording");
    return mixed(channelData);
  } finally {
    decoder.free();
  }
}

function mixed(channels: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array(0), ...others] = channels;
  if (others.length === 0) return first;
  return first.map((value, at) => (value + others.reduce((sum, other) => sum + (other[at] ?? 0), 0)) / channels.length);
}

function* piecesOf(samples: Float32Array): Generator<Float32Array> {
  for (let from = 0; samples.length - from >= leastSeconds * sampleRate;) {
    const end = from + pieceSeconds * sampleRate;
    const to = end >= samples.length ? samples.length : quietestIn(samples, end - searchedSeconds * sampleRate, end);
    yield samples.subarray(from, to);
    from = to;
  }
}

/** Quietest moment in this range of samples. */
function quietestIn(samples: Float32Array, from: number, to: number): number {
  const length = quietSeconds * sampleRate;
  let [best, least] = [to, Number.POSITIVE_INFINITY];
  for (let start = from; start + length <= to; start += length) {
    const energy = samples.subarray(start, start + length).reduce((sum, value) => sum + value * value, 0);
    if (energy < least) [best, least] = [start + length / 2, energy];
  }
  return best;
}
