import { createHash } from "node:crypto";

import { LRUCache } from "lru-cache";

import { AppError } from "../../../lib/app-error.ts";
import type { Embedder } from "./embedder.ts";

const mostVectors = 10_000;

/**
 * The vectors that were made last, by the digest of what they were made from: what is said again is not embedded again.
 */
export class VectorCache {
  readonly #vectors: LRUCache<string, Float32Array>;

  constructor(most: number = mostVectors) {
    this.#vectors = new LRUCache({ max: most });
  }

  get size(): number {
    return this.#vectors.size;
  }

  /** Returns vectors, asking the embedder only for unknown texts. */
  async embed(embedder: Embedder, texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    const keys = texts.map((text) => keyOf(embedder, text));
    const known = keys.map((key) => this.#vectors.get(key));
    const missing = texts.filter((_text, place) => known[place] === undefined);
    const made = missing.length === 0 ? [] : [...(await embedder.embed(missing, signal))];
    if (made.length !== missing.length || !made.every((vector) => isVector(vector, embedder))) throw spoilt(embedder);
    return keys.map((key, place) => {
      const vector = known[place] ?? made.shift() ?? new Float32Array(embedder.dimensions);
      this.#vectors.set(key, vector);
      return vector;
    });
  }
}

/** One number that is none would spoil every score that it is compared with. */
function isVector(vector: Float32Array, { dimensions }: Embedder): boolean {
  return vector.length === dimensions && vector.every(Number.isFinite);
}

function spoilt({ model }: Embedder): AppError {
  return new AppError("model_unavailable", `${model} answered with something that is no vector for each text.`);
}

function keyOf({ model, dimensions }: Embedder, text: string): string {
  return createHash("sha256")
    .update(JSON.stringify([model, dimensions, text]))
    .digest("base64");
}
