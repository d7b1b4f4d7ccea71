import { expect, test } from "vitest";

import { judgeCommand } from "../../../../src/rights/policy/shell/judge-command.ts";
import { highLines, lowLines, mediumLines } from "./command-lines.ts";

test.each(lowLines)("low: %s", async (line) => {
  expect(await judgeCommand(line)).toMatchObject({ risk: "low", parsed: "whole", reasons: [] });
});

test.each(mediumLines)("medium: %s", async (line, reason) => {
  const { risk, reasons } = await judgeCommand(line);

  expect({ risk, reasons: reasons.join("; ") }).toEqual({ risk: "medium", reasons: expect.stringContaining(reason) });
});

test.each(highLines)("high: %s", async (line, reason) => {
  const { risk, reasons } = await judgeCommand(line);

  expect({ risk, reasons: reasons.join("; ") }).toEqual({ risk: "high", reasons: expect.stringContaining(reason) });
});
