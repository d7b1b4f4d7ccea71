import type { Embedder } from "../../src/abilities/memory/embedding/embedder.ts";

/** Vectors by which letters stand side by side: like words are close. Can be held up, and made to fail. */
export class LetterEmbedder implements Embedder {
  readonly model: string;
  readonly dimensions = 64;
  readonly isEnglish: boolean;
  /** Every text that was asked for. */
  readonly asked: string[] = [];
  /** Awaited before each answer about memories, which begin with a name; not about queries. */
  gate: Promise<unknown> = Promise.resolve();
  fault: Error | undefined;

  constructor({ model = "letters", isEnglish = false }: { model?: string; isEnglish?: boolean } = {}) {
    this.model = model;
    this.isEnglish = isEnglish;
  }

  async embed(texts: readonly string[]): Promise<readonly Float32Array[]> {
    this.asked.push(...texts);
    if (texts.some((text) => text.includes(": "))) await this.gate;
    if (this.fault !== undefined) throw this.fault;
    return texts.map(lettersOf);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function lettersOf(text: string): Float32Array {
  const vector = new Float32Array(64);
  for (let at = 0; at + 1 < text.length; at += 1) {
    const place = (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) % 64;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
