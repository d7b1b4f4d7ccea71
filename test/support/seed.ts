/**
 * Seed of a property test whose runs are slow: the given one, so that each run of the tests tries the same, or the one
 * in `CRABPOT_TEST_SEED`, which tries others (CONTRIBUTING.md).
 */
export function seedOr(usual: number): number {
  const wanted = Number(process.env["CRABPOT_TEST_SEED"] ?? usual);
  if (!Number.isInteger(wanted)) throw new Error("CRABPOT_TEST_SEED is a whole number.");
  return wanted;
}
