import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { judgeCommand } from "../../src/rights/policy/shell/judge-command.ts";
import { everydayLines } from "../fixtures/commands/everyday.ts";
import { tableLine } from "../fixtures/commands/generated.ts";
import { hostileLines } from "../fixtures/commands/hostile.ts";
import { AgentInContainer } from "../support/agent-in-container.ts";
import { seedOr } from "../support/seed.ts";

const nothing = { writableMount: false, egress: false, injectedSecrets: false };

test("no line that is low changes a file or shows a secret in the container", { timeout: 600_000 }, async () => {
  const lines = new Set([
    ...everydayLines,
    ...hostileLines,
    ...fc.sample(tableLine, { numRuns: 2_000, seed: seedOr(20_261_128) }),
  ]);
  const low: string[] = [];
  for (const line of lines) if ((await judgeCommand(line, nothing)).risk === "low") low.push(line);
  await using agent = await AgentInContainer.start();
  await agent.shell("mkdir -m 777 in");
  await writeFile(join(agent.folder, "group/in/lines.json"), JSON.stringify({ lines: low, secret: "TOPSECRETVALUE" }));
  await copyFile(
    new URL("../fixtures/commands/run-lines.cjs", import.meta.url),
    join(agent.folder, "group/in/run.cjs"),
  );

  const { output } = await agent.shell(
    "cp -r in /tmp && cd /tmp && node in/run.cjs in/lines.json results.json && cp results.json /workspace/group",
    300,
  );

  expect(output).toContain("[exit code 0");
  expect(low.length).toBeGreaterThan(300);
  expect(JSON.parse(await readFile(join(agent.folder, "group/results.json"), "utf8"))).toEqual([]);
});
