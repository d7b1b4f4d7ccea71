import * as fc from "fast-check";
import { expect, test } from "vitest";

import { TokenCalibration } from "../../../../src/models/costs/calibration.ts";

function learnt(...counted: readonly number[]): TokenCalibration {
  const calibration = new TokenCalibration();
  for (const each of counted) calibration.report("a/b", { estimated: 10_000, counted: each });
  return calibration;
}

test("the factor of a model follows what it counts, quickly up and slowly down, and other models keep theirs", () => {
  expect(learnt().factorOf("a/b")).toBe(1);
  expect(learnt(20_000).factorOf("a/b")).toBeCloseTo(1.5);
  expect(learnt(7_000).factorOf("a/b")).toBeCloseTo(0.97);
  expect(learnt(...Array.from({ length: 60 }, () => 7_000)).factorOf("a/b")).toBeCloseTo(0.7, 2);
  expect(learnt(20_000).factorOf("a/c")).toBe(1);
});

test("whatever a model reports, the factor stays between a half and four", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.double(), fc.double())), (reports) => {
      const calibration = new TokenCalibration();
      for (const [estimated, counted] of reports) calibration.report("a/b", { estimated, counted });
      expect(calibration.factorOf("a/b")).toBeGreaterThanOrEqual(0.5);
      expect(calibration.factorOf("a/b")).toBeLessThanOrEqual(4);
    }),
  );
});

test("a server that counts less than half of what there must be is not believed", () => {
  expect(learnt(...Array.from({ length: 60 }, () => 4_999)).factorOf("a/b")).toBe(1);
});

test("a short prompt and one of which nothing was counted say nothing", () => {
  const calibration = new TokenCalibration();

  expect(calibration.report("a/b", { estimated: 999, counted: 4_000 })).toBeUndefined();
  expect(calibration.report("a/b", { estimated: 5_000, counted: 0 })).toBeUndefined();

  expect(calibration.factorOf("a/b")).toBe(1);
});

test("a factor is to be kept only when it has moved, and what was kept is taken over within the bounds", async () => {
  const calibration = new TokenCalibration();
  await calibration.load({
    tokenFactors: async () =>
      new Map([
        ["a/b", 0.8],
        ["a/c", 99],
      ]),
  });

  expect([calibration.factorOf("a/b"), calibration.factorOf("a/c")]).toEqual([0.8, 4]);
  expect(calibration.report("a/b", { estimated: 10_000, counted: 8_100 })).toBeUndefined();
  expect(calibration.report("a/b", { estimated: 10_000, counted: 9_000 })).toBeCloseTo(0.855);
});

/** A refusal by a model with an assumed window of 100,000. */
const refused = { estimated: 18_000, answerTokens: 2_000, windowTokens: 100_000, saidTokens: undefined };

test("a prompt that was refused as too long makes the next ones count for more, where our count had been put down", () => {
  const calibration = learnt(...Array.from({ length: 60 }, () => 5_000));

  calibration.tooLong("a/b", refused);

  expect(calibration.factorOf("a/b")).toBeCloseTo(1.25);
  expect(calibration.windowOf("a/b")).toBe(Infinity);
});

test("a server that says how large its window is, is believed where that is less, and where it is not, counts more than we do", () => {
  const calibration = new TokenCalibration();
  const windows = [16_000, 8_192, 8_192, 9_000, 3].map((saidTokens) => {
    calibration.tooLong("a/b", { ...refused, saidTokens });
    return calibration.windowOf("a/b");
  });

  expect(windows).toEqual([16_000, 8_192, 8_192, 8_192, 1_000]);
  expect(calibration.factorOf("a/b")).toBeCloseTo(1.25 ** 2);
  calibration.tooLong("a/c", { ...refused, estimated: 4_000, windowTokens: 12_000, saidTokens: 12_000 });
  expect(calibration.factorOf("a/c")).toBeCloseTo((1.1 * 10_000) / 4_000);
  expect(calibration.windowOf("a/c")).toBe(Infinity);
  calibration.forgetWindow("a/b");
  expect(calibration.windowOf("a/b")).toBe(Infinity);
});

test("where a server says nothing, less than what it refused is tried, down to a bound", () => {
  const calibration = new TokenCalibration();
  const windows = [18_000, 13_000, 48_000, 1_000, 1_000].map((estimated) => {
    calibration.tooLong("a/b", { ...refused, estimated });
    return calibration.windowOf("a/b");
  });

  expect(windows).toEqual([15_000, 11_250, 11_250, 4_000, 4_000]);
});
