import { expect, test } from "vitest";

import { runLeakyTests } from "../../support/leaky-tests.ts";

const { code, told } = await runLeakyTests("things", "handles", "failing");

test("a test that leaves a process or a folder behind fails, and is told which", () => {
  expect(code).toBe(1);
  expect(told["things"]).toEqual({
    file: "",
    "leaves a process": expect.stringMatching(/Left behind:\n- process \d+, sleep 600 of the test "leaves a process"/),
    "leaves a folder": expect.stringMatching(/Left behind:\n- folder \/\S+ of the test "leaves a folder"/),
    "leaves nothing": "",
  });
});

test("a test file that leaves a server, a timer, a listener or an open file behind fails, and is told which test it probably was", () => {
  const { file, ...tests } = told["handles"] ?? {};

  expect(file?.split("\n").toSorted()).toEqual([
    '- 1 × TCPServerWrap, probably of "leaves a server"',
    '- 1 × Timeout, probably of "leaves a timer"',
    '- 1 × listener to SIGTERM of this process, probably of "leaves a listener"',
    expect.stringMatching(/^- 1 × open file \/\S+\/leaks\/handles\.ts, probably of "leaves a file open"$/),
    "Left behind:",
  ]);
  expect(Object.values(tests).join("")).toBe("");
});

test("of a test that failed before its clean-up nothing but its own failure is told", () => {
  expect(told["failing"]).toEqual({ file: "", "fails before its clean-up": expect.stringContaining("that") });
  expect(JSON.stringify(told["failing"])).not.toContain("Left behind");
});
