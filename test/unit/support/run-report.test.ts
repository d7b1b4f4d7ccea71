import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { timesToWrite } from "../../../scripts/testing/times.ts";
import { slowFiles } from "../../slow-files.ts";
import { timesOfRun } from "../../support/run-report.ts";

test("a run says which ten files were the slowest, and what each folder took", () => {
  const files = Array.from({ length: 11 }, (_, index) => [`test/unit/lib/${index}.test.ts`, 12 + index] as const);
  const report = timesOfRun(
    Object.fromEntries([...files, ["test/architecture.test.ts", 30], ["test/scenarios/a.test.ts", 498]]),
  );
  expect(report.split("\n")).toEqual([
    "Slowest files",
    "   498.0 s test/scenarios/a.test.ts",
    "    30.0 s test/architecture.test.ts",
    ...[22, 21, 20, 19, 18, 17, 16, 15].map((time) => `    ${time}.0 s test/unit/lib/${time - 12}.test.ts`),
    "Folders",
    "  test/scenarios 8.3 min in 1 files",
    "  test/unit 3.1 min in 11 files",
    "  test 0.5 min in 1 files",
  ]);
});

test("times are written down in whole seconds where they are more than five, the longest first", () => {
  expect(timesToWrite({ "a.test.ts": 5, "b.test.ts": 5.6, "c.test.ts": 61.4 })).toBe(
    `${JSON.stringify({ "c.test.ts": 61, "b.test.ts": 6 }, null, 2)}\n`,
  );
});

test("a file that takes more than a minute has a reason in test/slow-files.ts, and only such a file has one", () => {
  const path = resolve(import.meta.dirname, "../../times.json");
  const times = JSON.parse(readFileSync(path, "utf8")) as Record<string, number>;
  const slow = Object.keys(times).filter((file) => (times[file] ?? 0) > 60);
  expect(slow.toSorted()).toEqual(Object.keys(slowFiles).toSorted());
});
