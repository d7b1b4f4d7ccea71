/** Random numbers that a seed brings back. */
export interface Random {
  readonly seed: number;
  /** 0 ≤ x < 1. */
  next(): number;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  /** True in this many of a hundred cases. */
  chance(percent: number): boolean;
  pick<Item>(items: readonly Item[]): Item | undefined;
}

/** Mulberry32: small, and good enough to spread faults. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    seed,
    next,
    between,
    chance: (percent) => next() * 100 < percent,
    pick: (items) => items[between(0, items.length - 1)],
  };
}
