import type { Embedder } from "../../src/abilities/memory/embedding/embedder.ts";
import type { NewMemory } from "../../src/processes/memory-schemas.ts";

export const weights = { vector: 0.5, text: 0.5, neighbour: 0.3 };

const dimensions = 384;
const random = randomNumbers(7);

/** Vectors at random, at once. */
export const madeUpEmbedder: Embedder = {
  model: "made-up",
  dimensions,
  isEnglish: true,
  embed: async (texts) => texts.map(() => Float32Array.from({ length: dimensions }, () => (random() - 0.5) / 5.66)),
  [Symbol.asyncDispose]: async () => {},
};

/** Generates memories of 14 words, a minute apart, by two people. */
export function madeUpMemories(from: number, count: number): NewMemory[] {
  return Array.from({ length: count }, (_, place) => ({
    category: "conversation",
    origin: "member",
    sources: [],
    id: `m${from + place}`,
    text: words(14),
    time: (from + place) * 60_000,
    sender: place % 2 === 0 ? "Ann" : "Bob",
  }));
}

/** Returns a plausible question. */
export function queryOf(): string {
  return `What did Ann say about ${words(5)}?`;
}

/** Some words are said often, most seldom. */
function words(count: number): string {
  return Array.from({ length: count }, () => `w${Math.floor(random() ** 3 * 20_000)}`).join(" ");
}

/** The same ones each time. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
}
