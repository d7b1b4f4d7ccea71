import { PackedVectors } from "./packed-vectors.ts";
import { PlainVectors } from "./plain-vectors.ts";
import type { VectorStrategy } from "./vectors.ts";

/** The best one first; the last one works everywhere. */
export const vectorStrategies: readonly VectorStrategy[] = [
  { name: "eight at a time, by bytes", bytesPerNumber: 5, open: (dimensions) => new PackedVectors(dimensions) },
  { name: "one by one", bytesPerNumber: 4, open: (dimensions) => new PlainVectors(dimensions) },
];
