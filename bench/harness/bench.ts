import type { Figure } from "./figure.ts";

export interface BenchContext {
  /** Fewer runs, for a first look. */
  readonly quick: boolean;
  /** Minutes for benches that look for growth. */
  readonly minutes: number;
  /** The model server's base URL: it answers at once. */
  readonly modelUrl: string;
  /** Prints progress. */
  readonly say: (line: string) => void;
}

/** Measures one thing; gives a figure for each number that it stands for. */
export type Bench = (context: BenchContext) => Promise<readonly Figure[]>;
