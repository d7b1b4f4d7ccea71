import * as z from "zod";

import type { EmbeddingModel } from "../../../domain/settings/embedder-source.ts";
import { AppError, toError } from "../../../lib/app-error.ts";
import { postToServer } from "../../../lib/http/post-to-server.ts";
import { readAnswer } from "../../../lib/http/read-answer.ts";
import { parseJson } from "../../../lib/text/parse-json.ts";
import { sleep } from "../../../lib/time/sleep.ts";
import type { Embedder } from "./embedder.ts";

export interface ProviderEmbedderOptions extends EmbeddingModel {
  /** Time limit of an answer. */
  readonly timeoutMs?: number;
  /** Delays before retries. */
  readonly retryMs?: readonly number[];
}

const usualTimeoutMs = 30_000;
const usualRetryMs = [500, 2_000, 8_000];
/** No model that embeds takes more; longer texts would be refused as a whole. */
const mostChars = 8_000;
const mostAnswerBytes = 16 * 1024 * 1024;

const answerSchema = z.object({
  data: z.array(z.object({ index: z.number().int().min(0), embedding: z.array(z.number()) })),
});

/** A provider's `/embeddings`, as OpenAI and those who speak like it have it. */
export class ProviderEmbedder implements Embedder {
  readonly model: string;
  readonly dimensions: number;
  readonly isEnglish = false;
  readonly #options: ProviderEmbedderOptions;
  readonly #ended = new AbortController();

  constructor(options: ProviderEmbedderOptions) {
    this.#options = options;
    this.model = `${options.provider}/${options.model}@${options.dimensions}`;
    this.dimensions = options.dimensions;
  }

  async embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]> {
    const stops = AbortSignal.any([this.#ended.signal, ...(signal ? [signal] : [])]);
    const waits = this.#options.retryMs ?? usualRetryMs;
    for (const waitMs of waits) {
      try {
        return await this.#ask(texts, stops);
      } catch (error) {
        if (!(error instanceof AppError) || !error.passing || stops.aborted) throw error;
      }
      await sleep(waitMs, stops);
    }
    return this.#ask(texts, stops);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    return Promise.resolve();
  }

  async #ask(texts: readonly string[], stops: AbortSignal): Promise<Float32Array[]> {
    const { baseUrl, apiKey, model, dimensions, timeoutMs = usualTimeoutMs } = this.#options;
    let response: Response;
    let body: string;
    try {
      const question = { model, dimensions, encoding_format: "float", input: texts.map(shorten) };
      response = await postToServer({ baseUrl, apiKey }, "/embeddings", { body: question, signal: stops, timeoutMs });
      body = await readAnswer(response, mostAnswerBytes);
    } catch (thrown) {
      throw this.#failure(`could not be reached: ${toError(thrown).message}`, true);
    }
    if (!response.ok) {
      const passing = response.status === 408 || response.status === 429 || response.status >= 500;
      throw this.#failure(`answered ${response.status}: ${body.slice(0, 200)}`, passing);
    }
    return this.#vectorsOf(body, texts.length);
  }

  #vectorsOf(body: string, count: number): Float32Array[] {
    const parsed = answerSchema.safeParse(parseJson(body));
    if (!parsed.success) throw this.#failure("answered with something that is no list of embeddings", false);
    const vectors = Array<Float32Array | undefined>(count).fill(undefined);
    for (const { index, embedding } of parsed.data.data) {
      if (embedding.length !== this.dimensions) {
        const fix = `${embedding.length} instead of ${this.dimensions} numbers`;
        throw this.#failure(`answered with ${fix}; set memory.embeddings.dimensions to that`, false);
      }
      if (index < count) vectors[index] = toUnit(embedding);
    }
    return vectors.map((vector) => {
      if (vector === undefined) throw this.#failure("left out some of the texts", false);
      return vector;
    });
  }

  #failure(what: string, passing: boolean): AppError {
    const { provider, model } = this.#options;
    return new AppError("model_unavailable", `${provider} (${model}), which embeds memories, ${what}.`, { passing });
  }
}

/** An empty text is refused by some. */
function shorten(text: string): string {
  return text.slice(0, mostChars) || " ";
}

function toUnit(numbers: readonly number[]): Float32Array {
  const length = Math.sqrt(numbers.reduce((sum, number) => sum + number * number, 0));
  return Float32Array.from(numbers, (number) => (length === 0 ? 0 : number / length));
}
