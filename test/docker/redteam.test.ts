import { expect, test } from "vitest";

import { crabpot, jsonLines, newHome } from "../support/crabpot.ts";

interface Summary {
  readonly kind: string;
  readonly cases: number;
  readonly contained: number;
  readonly failed: number;
  readonly skipped: number;
  readonly residualRisks: readonly unknown[];
}

test("every attack of the red-team suite is contained and on record", { timeout: 600_000 }, async () => {
  await using place = await newHome();

  const { code, stdout } = await crabpot(place, "redteam", "--json");

  const lines = jsonLines(stdout);
  expect(lines.filter((line) => line["verdict"] === "FAILED")).toEqual([]);
  const summary = lines.at(-1) as unknown as Summary;
  expect(summary).toMatchObject({ kind: "summary", failed: 0 });
  expect(summary.contained + summary.skipped).toBe(summary.cases);
  expect(summary.contained).toBeGreaterThan(60);
  expect(summary.residualRisks.length).toBeGreaterThan(0);
  expect(code).toBe(0);
});

test("an attack or family that does not exist is named, and nothing is played", async () => {
  await using place = await newHome();

  const { code, stderr } = await crabpot(place, "redteam", "--only", "C1,Q9");

  expect(code).not.toBe(0);
  expect(stderr).toContain('There is no attack "q9"');
});
