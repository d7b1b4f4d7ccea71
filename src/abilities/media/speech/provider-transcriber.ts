import { readFile } from "node:fs/promises";

import * as z from "zod";

import type { Recording } from "../../../domain/chats/message.ts";
import type { TranscriberSource } from "../../../domain/settings/transcriber-source.ts";
import { toError } from "../../../lib/app-error.ts";
import { postToServer } from "../../../lib/http/post-to-server.ts";
import { readAnswer } from "../../../lib/http/read-answer.ts";
import { parseJson } from "../../../lib/text/parse-json.ts";
import { transcriptChars } from "../../../processes/message-schemas.ts";
import { MediaError } from "../media-error.ts";

type ProviderPlace = Extract<TranscriberSource, { readonly provider: string }>;

/** OpenAI and Groq refuse more. */
const mostBytes = 25_000_000;
const mostAnswerBytes = 1024 * 1024;
const timeoutMs = 90_000;

const answerSchema = z.object({ text: z.string() });

/**
 * Transcribes a recording by a provider's `/audio/transcriptions`, in OpenAI's format. Rejects with a MediaError, whose
 * message is the end of a sentence, or with the signal's reason.
 */
export async function transcribeByProvider(
  place: ProviderPlace,
  recording: Recording,
  signal: AbortSignal,
): Promise<string> {
  if (recording.bytes > mostBytes)
    throw new MediaError("refused", `it is larger than the ${mostBytes / 1_000_000} MB that ${place.provider} takes`);
  const form = new FormData();
  form.set("model", place.model);
  form.set("response_format", "json");
  // Some judge by the name.
  const file = new Blob([await readFile(recording.path)], { type: recording.mimeType });
  form.set("file", file, `voice.${recording.extension}`);
  const { status, body } = await ask(place, form, signal);
  if (status !== 200) throw failure(place, `answered ${status}: ${body.slice(0, 200)}`, true);
  const answer = answerSchema.safeParse(parseJson(body));
  if (!answer.success) throw failure(place, "answered with something that is no transcript");
  return answer.data.text.trim().slice(0, transcriptChars).toWellFormed();
}

async function ask(
  place: ProviderPlace,
  form: FormData,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly body: string }> {
  try {
    const response = await postToServer(place, "/audio/transcriptions", { body: form, signal, timeoutMs });
    return { status: response.status, body: await readAnswer(response, mostAnswerBytes) };
  } catch (error) {
    signal.throwIfAborted();
    throw failure(place, `could not be reached: ${toError(error).message}`);
  }
}

function failure({ provider, model }: ProviderPlace, what: string, isUnpaid = false): MediaError {
  return new MediaError("failed", `${provider} (${model}) ${what}`, { isUnpaid });
}
