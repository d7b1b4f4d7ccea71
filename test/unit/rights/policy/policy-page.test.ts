import { readFile } from "node:fs/promises";

import { expect, test } from "vitest";

import { nothingAtStake } from "../../../../src/domain/rights/stakes.ts";
import { judgeCommand } from "../../../../src/rights/policy/shell/judge-command.ts";

const page = await readFile(new URL("../../../../docs/policy.md", import.meta.url), "utf8");
const [, section = ""] = page.split("### The risk of a command\n");
const rows =
  section
    .split("\n## ")[0]
    ?.split("\n")
    .filter((line) => /^\| (?!-|a line)/.test(line))
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim())) ?? [];

test("each example of a command in docs/policy.md has the risk of its row", async () => {
  const wrong: unknown[] = [];
  let count = 0;
  for (const [, , nothing, atStake, examples = ""] of rows)
    for (const [, example = ""] of examples.matchAll(/`([^`]+)`/g)) {
      const line = example.replaceAll("\\|", "|");
      count += 1;
      const found = [nothingAtStake, { ...nothingAtStake, egress: true }].map((stakes) => judgeCommand(line, stakes));
      const risks = (await Promise.all(found)).map(({ risk }) => risk);
      if (risks[0] !== nothing || risks[1] !== atStake) wrong.push({ line, risks, nothing, atStake });
    }

  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(35);
});
