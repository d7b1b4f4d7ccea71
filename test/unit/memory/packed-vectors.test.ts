import * as fc from "fast-check";
import { expect, test } from "vitest";

import { PackedVectors } from "../../../src/memory/index/packed-vectors.ts";

function numbers(count: number): fc.Arbitrary<Float32Array> {
  return fc.float32Array({ minLength: count, maxLength: count, min: -1, max: 1, noNaN: true });
}

function mostOf(vector: Float32Array): number {
  return Math.max(...vector.map((value) => Math.abs(value)));
}

test("products are those of a plain sum, exactly one by one and nearly all at once, for any number of rows and dimensions", () => {
  const rows = fc
    .integer({ min: 1, max: 70 })
    .chain((dimensions) =>
      fc.tuple(numbers(dimensions), fc.array(fc.option(numbers(dimensions), { nil: undefined }), { maxLength: 40 })),
    );

  fc.assert(
    fc.property(rows, ([query, vectors]) => {
      const packed = new PackedVectors(query.length);
      for (const [row, vector] of vectors.entries()) packed.set(row, vector);
      // Asked twice: the first answer must not have left anything behind.
      packed.products(query);
      const products = packed.products(query);

      expect(products).toHaveLength(vectors.length);
      expect(packed.known).toBe(vectors.filter((vector) => vector !== undefined).length);
      for (const [row, vector] of vectors.entries()) {
        const plain = (vector ?? query.map(() => 0)).reduce((sum, value, at) => sum + value * (query[at] ?? 0), 0);
        expect(packed.product(row, query)).toBeCloseTo(plain, 4);
        const sum = query.reduce((total, value) => total + Math.abs(value), 0);
        const most = vector === undefined ? 0 : mostOf(vector);
        const offByRow = (most / 127 / 2) * sum;
        const offByQuery = (mostOf(query) / 32_767 / 2) * most * query.length;
        expect(Math.abs((products[row] ?? 0) - plain)).toBeLessThanOrEqual((offByRow + offByQuery) * 1.01 + 1e-5);
      }
    }),
  );
});

test("a row that comes after a search begins without a vector", () => {
  const packed = new PackedVectors(3);
  packed.set(0, Float32Array.of(1, 0, 0));
  packed.products(Float32Array.of(1, 1, 1));
  packed.set(1, undefined);

  expect(packed.products(Float32Array.of(1, 1, 1))[0]).toBeCloseTo(1, 2);
  expect([packed.product(0, Float32Array.of(1, 1, 1)), packed.product(1, Float32Array.of(1, 1, 1))]).toEqual([1, 0]);
  expect(packed.has(1)).toBe(false);
});
