import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";

const program = resolve(import.meta.dirname, "../../bench/main.ts");

test("a bench tells its figures as JSON, with the floor of the same run", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [program, "--quick", "--json", "mailbox"]);

  const [figure] = jsonLines(stdout);
  expect(figure).toMatchObject({ bench: "mailbox", figure: "round trip", unit: "ms", runs: 100 });
  expect(figure?.["floor"]).toMatchObject({ name: "plain files", runs: 100 });
  for (const name of ["median", "p95", "p99", "ratio"]) expect(figure?.[name]).toBeGreaterThan(0);
});

test("a bench that does not exist is refused with the names of those that do", async () => {
  const run = promisify(execFile)(process.execPath, [program, "nonsense"]);

  await expect(run).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("hot-turn") });
});
