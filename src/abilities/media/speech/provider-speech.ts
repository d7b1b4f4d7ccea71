import { mostVoiceBytes, type SpeechSource } from "../../../domain/settings/speech.ts";
import { toError } from "../../../lib/app-error.ts";
import { postToServer } from "../../../lib/http/post-to-server.ts";
import { readAnswer, readBytes, TooLongError } from "../../../lib/http/read-answer.ts";
import { MediaError } from "../media-error.ts";

type ProviderPlace = Extract<SpeechSource, { readonly provider: string }>;

const mostRefusalBytes = 64 * 1024;
const defaultTimeoutMs = 90_000;

export interface SpeakOptions {
  readonly signal: AbortSignal;
  /** Time limit of the whole answer. */
  readonly timeoutMs?: number | undefined;
}

/**
 * A text as a provider says it aloud, by its `/audio/speech`, as OpenAI and those who speak like it have it. Rejects
 * with a MediaError, whose words are the end of a sentence for the model, with the provider's own as its cause; or with
 * the signal's reason.
 */
export async function speakByProvider(place: ProviderPlace, text: string, options: SpeakOptions): Promise<Buffer> {
  const { model, voice } = place;
  const { signal, timeoutMs = defaultTimeoutMs } = options;
  try {
    const body = { model, input: text, voice, response_format: "opus" };
    const response = await postToServer(place, "/audio/speech", { body, signal, timeoutMs });
    if (response.status === 200)
      return await readBytes((response.body ?? []) as AsyncIterable<Uint8Array>, mostVoiceBytes);
    const words = await readAnswer(response, mostRefusalBytes).catch((error: unknown) => toError(error).message);
    const cause = new Error(words.slice(0, 500));
    throw failure(place, `answered ${response.status}`, { cause, isUnpaid: true });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof MediaError
      ? error
      : failure(place, whyUnreached(toError(error), timeoutMs), { cause: error });
  }
}

/** Only what we say ourselves: addresses and the like are the operator's. */
function whyUnreached(error: Error, timeoutMs: number): string {
  if (error.name === "TimeoutError") return `did not answer within ${timeoutMs / 1_000} seconds`;
  return error instanceof TooLongError
    ? `answered with more than ${mostVoiceBytes / 1_000_000} MB`
    : "could not be reached";
}

function failure(
  { provider, model }: ProviderPlace,
  what: string,
  more: ConstructorParameters<typeof MediaError>[2],
): MediaError {
  return new MediaError("failed", `${provider} (${model}) ${what}`, more);
}
