import { copyFile } from "node:fs/promises";

import type { Logger } from "pino";

import type { HeardSound, HearSound, Recording } from "../../../domain/chats/message.ts";
import type { TranscriberSource } from "../../../domain/settings/transcriber-source.ts";
import { toError } from "../../../lib/app-error.ts";
import type { PaidSound } from "../../../models/sound-calls.ts";
import type { Media, MediaWork } from "../media.ts";
import { MediaError } from "../media-error.ts";
import { transcribeByProvider } from "./provider-transcriber.ts";
import { soundLength } from "./sound-length.ts";
import { paidBy } from "./sound-payment.ts";
import { isSpeechModelInstalled } from "./speech-model.ts";

export interface HearingOptions {
  readonly media: Pick<Media, "open">;
  /** Current source of transcripts. */
  readonly place: () => TranscriberSource;
  /**
   * Reserves money for a provider (`provider/model`) and a number of seconds. Rejects with a MediaError when the budget
   * is exhausted.
   */
  readonly pay: (model: string, seconds: number, group: string) => Promise<PaidSound>;
  readonly logger: Pick<Logger, "warn">;
}

/** Maximum seconds of a transcribed recording. */
const mostSeconds = 600;

/** Hears voice messages. The recording is read by the media process, or sent to a provider as it is. */
export function createHearing({ media, place, pay, logger }: HearingOptions): HearSound {
  return async (recording, signal) => {
    await using work = await media.open();
    await copyFile(recording.path, work.input);
    const seconds = await soundLength(work, signal);
    const length: HeardSound = seconds === undefined ? {} : { seconds };
    const where = place();
    if (where === "none") return { heard: length };
    try {
      if (seconds !== undefined && seconds > mostSeconds)
        throw new MediaError("refused", `it is longer than ${mostSeconds / 60} minutes`);
      const text = await transcribe(where, { work, recording, seconds, pay }, signal);
      if (text === "") return { heard: { ...length, failure: "nobody was heard in it" } };
      return { heard: { ...length, transcribed: true }, transcript: text };
    } catch (error) {
      signal.throwIfAborted();
      logger.warn({ err: toError(error) }, "a voice message could not be transcribed");
      // What a provider says may be anything; it is for the operator.
      const failure = error instanceof MediaError && error.failure === "refused" ? error.message : "it failed";
      return { heard: { ...length, failure } };
    }
  };
}

interface HeardWork extends Pick<HearingOptions, "pay"> {
  readonly work: MediaWork;
  readonly recording: Recording;
  /** Seconds; undefined when unknown. */
  readonly seconds: number | undefined;
}

async function transcribe(
  place: Exclude<TranscriberSource, "none">,
  { work, recording, seconds, pay }: HeardWork,
  signal: AbortSignal,
): Promise<string> {
  if ("provider" in place) {
    const { provider, model } = place;
    const payment = await pay(`${provider}/${model}`, seconds ?? mostSeconds, recording.group);
    const ask = (): Promise<string> => transcribeByProvider(place, recording, signal);
    return paidBy(payment, ask, () => undefined);
  }
  if (!isSpeechModelInstalled(place.folder))
    throw new MediaError("missing", "the local model is not installed: crabpot media install-model");
  const { text } = await work.run("transcribe", { model: place.folder, mostSeconds }, signal);
  return text.trim();
}
