/** Statistics of a list of measurements. */
export interface Summary {
  readonly runs: number;
  readonly median: number;
  readonly p95: number;
  readonly p99: number;
}

/** Throws for an empty list: a bench that measured nothing has failed. */
export function summarize(values: readonly number[]): Summary {
  if (values.length === 0) throw new Error("nothing was measured");
  const sorted = values.toSorted((one, other) => one - other);
  return {
    runs: sorted.length,
    median: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    p99: quantile(sorted, 0.99),
  };
}

/** The nearest rank: always a value that was measured, but for the median of an even number. */
function quantile(sorted: readonly number[], share: number): number {
  const middle = sorted.length / 2;
  if (share === 0.5 && Number.isInteger(middle)) return ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
