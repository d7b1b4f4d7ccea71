import { expect, test } from "vitest";

import { createRefusalReport } from "../../../../src/surfaces/http/refusals.ts";
import type { HttpRefusal } from "../../../../src/surfaces/http/refusals.ts";

const refusal = { status: 401, method: "GET", route: "/metrics", address: "127.0.0.1" };

test("of a flood of refusals the first thirty are told, and later how many were left out", () => {
  let now = 0;
  const told: HttpRefusal[] = [];
  const clock = { now: () => now, monotonic: () => now };
  const report = createRefusalReport(clock, (each) => void told.push(each));

  for (let sent = 0; sent < 100; sent += 1) report(refusal);
  report({ ...refusal, status: 404 });
  now += 60_000;
  report(refusal);

  expect(told).toHaveLength(32);
  expect(told[30]).toMatchObject({ status: 404, untold: 0 });
  expect(told[31]).toMatchObject({ status: 401, untold: 70 });
});
