import { AppError, toError } from "../../../lib/app-error.ts";
import type { MemoryFile, Unembedded } from "../file/memory-file.ts";
import { embeddedText } from "../text/indexed-text.ts";
import { type Embedder, largestBatch } from "./embedder.ts";
import type { VectorCache } from "./vector-cache.ts";

export interface PendingOptions {
  readonly file: MemoryFile;
  readonly embedder: Embedder;
  readonly cache: VectorCache;
  readonly onVector: (seq: number, vector: Float32Array) => void;
  readonly signal: AbortSignal;
}

const attempts = 3;

/**
 * Gives every memory that has no vector of this model one, oldest first, and keeps them a batch at a time: what is
 * interrupted goes on there. A memory whose text cannot be embedded is left with its words. Rejects when nothing can be
 * embedded.
 */
export async function embedPending(options: PendingOptions): Promise<void> {
  const { file, embedder, signal } = options;
  for (let after = 0; !signal.aborted;) {
    const batch = file.unembedded(embedder.model, after, largestBatch);
    const last = batch.at(-1);
    if (last === undefined) return;
    await embedBatch(batch, options);
    after = last.seq;
  }
}

async function embedBatch(batch: readonly Unembedded[], options: PendingOptions): Promise<void> {
  const { file, embedder, onVector } = options;
  const vectors = await tryBatch(batch, options);
  file.setVectors(
    embedder.model,
    batch.map((memory, place) => [memory, vectors[place]]),
  );
  for (const [place, vector] of vectors.entries()) {
    const seq = batch[place]?.seq;
    if (seq !== undefined && vector !== undefined) onVector(seq, vector);
  }
}

/** One that fails again and again is tried text by text, so that one text does not stand in the way of the others. */
async function tryBatch(
  batch: readonly Unembedded[],
  { cache, embedder, signal }: PendingOptions,
): Promise<readonly (Float32Array | undefined)[]> {
  const texts = batch.map(embeddedText);
  const whole = await trySeveral(() => cache.embed(embedder, texts, signal), signal);
  if (!(whole instanceof Error)) return whole;
  if (texts.length === 1) throw whole;
  const each: (Float32Array | undefined)[] = [];
  for (const text of texts) {
    const one = await trySeveral(() => cache.embed(embedder, [text], signal), signal);
    each.push(one instanceof Error ? undefined : one[0]);
  }
  // If not one of them works, it is not the texts.
  if (each.every((vector) => vector === undefined)) throw whole;
  return each;
}

async function trySeveral<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T | Error> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action();
    } catch (thrown) {
      const error = toError(thrown);
      const isWorthTrying = error instanceof AppError && error.passing && attempt < attempts;
      if (!isWorthTrying || signal.aborted) return error;
    }
  }
}
