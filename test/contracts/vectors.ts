import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { VectorStrategy } from "../../src/abilities/memory/index/vectors/vectors.ts";

/** Number of best rows with exact products; others only must not exceed them. */
const best = 10;

type MaybeVector = Float32Array | undefined;

/** Contract of `src/abilities/memory/index/vectors/vectors.ts`, for any rows and dimensions. */
export function testVectors(strategy: VectorStrategy): void {
  describe(`vectors, ${strategy.name}`, () => {
    test("the best rows are known exactly, and no other one is above them by more than a byte tells apart", async () => {
      await fc.assert(
        fc.asyncProperty(rowsAndQuery(), async ([query, rows]) => {
          const vectors = strategy.open(query.length);
          for (const [row, vector] of rows.entries()) vectors.set(row, vector);
          // Asked twice: the first answer must not have left anything behind.
          await vectors.products(query);
          const products = await vectors.products(query);
          const right = rows.map((vector) => sumOf(vector, query));
          const known = [...rows.keys()].filter((row) => rows[row] !== undefined);
          const ranked = known.toSorted((one, other) => (right[other] ?? 0) - (right[one] ?? 0)).slice(0, best);
          const least = right[ranked.at(-1) ?? 0] ?? 0;

          expect(products).toHaveLength(rows.length);
          expect([vectors.known, vectors.isKnown.reduce((sum, one) => sum + one, 0)]).toEqual([
            known.length,
            known.length,
          ]);
          expect(rows.map((_vector, row) => vectors.has(row))).toEqual(rows.map((vector) => vector !== undefined));
          for (const row of ranked) expect(vectors.product(row, query)).toBeCloseTo(right[row] ?? 0, 4);
          for (const [row, vector] of rows.entries()) {
            const near = vector === undefined ? 0 : nearness(vector, query);
            const exact = right[row] ?? 0;
            const isBest = vector === undefined || ranked.includes(row);
            expect(products[row]).toBeGreaterThanOrEqual(isBest ? exact - near : -Infinity);
            expect(products[row]).toBeLessThanOrEqual((isBest ? exact : Math.max(least, exact)) + near);
          }
        }),
      );
    });

    test("rows that come later and vectors that are replaced count from the next question on", async () => {
      const vectors = strategy.open(3);
      const query = Float32Array.of(1, 1, 1);
      vectors.set(0, Float32Array.of(1, 0, 0));
      const first = [...(await vectors.products(query))];
      vectors.set(1, undefined);
      const later = [...(await vectors.products(query))];
      vectors.set(0, Float32Array.of(0, -1, 0));
      vectors.set(1, Float32Array.of(0, 0.6, 0.8));
      vectors.set(1, undefined);
      const last = [...(await vectors.products(query))];

      expect(first.map((value) => Math.round(value * 10))).toEqual([10]);
      expect(later.map((value) => Math.round(value * 10))).toEqual([10, 0]);
      expect(last.map((value) => Math.round(value * 10))).toEqual([-10, 14]);
      expect([vectors.known, vectors.has(0), vectors.has(1), vectors.has(2)]).toEqual([2, true, true, false]);
    });

    test("the best of many rows is found wherever it lies, and nothing is like a query without a direction", async () => {
      const vectors = strategy.open(5);
      const rows = 5_000;
      for (let row = 0; row < rows; row += 1) vectors.set(row, Float32Array.of(0.6, 0.8, 0, 0, 0));
      for (const row of [0, 2_047, 2_048, rows - 1]) {
        vectors.set(row, Float32Array.of(0, 0, 1, 0, 0));
        const products = await vectors.products(Float32Array.of(0, 0, 1, 0, 0));
        expect(products.indexOf(Math.max(...products))).toBe(row);
        vectors.set(row, Float32Array.of(0.6, 0.8, 0, 0, 0));
      }

      expect(Math.max(...(await vectors.products(new Float32Array(5))))).toBe(0);
    });
  });
}

const numbers = (count: number): fc.Arbitrary<Float32Array> =>
  fc.float32Array({ minLength: count, maxLength: count, min: -1, max: 1, noNaN: true });
const mostOf = (values: Float32Array): number => Math.max(...values.map((value) => Math.abs(value)));

function rowsAndQuery(): fc.Arbitrary<[Float32Array, MaybeVector[]]> {
  return fc
    .integer({ min: 1, max: 70 })
    .chain((dimensions) =>
      fc.tuple(numbers(dimensions), fc.array(fc.option(numbers(dimensions), { nil: undefined }), { maxLength: 40 })),
    );
}

function sumOf(vector: MaybeVector, query: Float32Array): number {
  return vector?.reduce((sum, value, at) => sum + value * (query[at] ?? 0), 0) ?? 0;
}

/** Maximum error of a product after rounding the vector to bytes and the query to 16 bits. */
function nearness(vector: Float32Array, query: Float32Array): number {
  const most = mostOf(vector);
  const offByRow = (most / 127 / 2) * query.reduce((total, value) => total + Math.abs(value), 0);
  const offByQuery = (mostOf(query) / 32_767 / 2) * most * query.length;
  return (offByRow + offByQuery) * 1.01 + 1e-5;
}
