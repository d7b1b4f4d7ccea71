import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { converse } from "../support/crabpot.ts";
import { startInTerminal } from "../support/pseudo-terminal.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A home without a configuration: the scripted model and the group `main`. */
async function emptyHome() {
  const folder = await temporaryFolder();
  const home = join(folder.path, "home");
  await mkdir(home, { mode: 0o700 });
  return { home, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test("a piped line is answered with what the container said, and the host ends with 0", async () => {
  await using folder = await emptyHome();

  const { code, stdout } = await converse(folder, "@crab run id -u && uname -s\n", "start", "--terminal");

  expect(code).toBe(0);
  expect(stdout).toMatch(/^main\/crab: \d+$/m);
  expect(stdout).toContain("Linux");
});

test("all lines are answered, also without a line break at the end, as JSON lines when asked for", async () => {
  await using folder = await emptyHome();

  const { code, stdout } = await converse(
    folder,
    "run echo one\n\nmain/ann: run echo two\nrun echo three",
    "start",
    "--terminal",
    "--json",
  );

  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; group: string; text: string; inReplyTo: string[]; ms: number });
  expect(code).toBe(0);
  expect(lines.flatMap((line) => line.inReplyTo)).toHaveLength(3);
  expect(lines.map((line) => line.text).join("\n")).toMatch(/one[\s\S]*two[\s\S]*three/);
  expect(lines[0]).toMatchObject({ type: "reply", group: "main" });
  expect(typeof lines[0]?.ms).toBe("number");
});

test("the scripted model says what it is, and reads and writes files for real", async () => {
  await using folder = await emptyHome();

  const input = "write notes.txt milk and bread\nread notes.txt\nwhat is the meaning of life?\n";
  const { stdout } = await converse(folder, input, "start", "--terminal");

  expect(stdout).toContain("milk and bread");
  expect(stdout).toMatch(/no intelligence|without intelligence/i);
});

test("a host that is talked to in a terminal ends with it, also when no signal says that it was closed", async () => {
  await using folder = await emptyHome();
  const terminal = startInTerminal({ home: folder.home, hasLeft: true }, "start", "--terminal");
  await expect.poll(() => existsSync(join(folder.home, "control.sock"))).toBe(true);

  expect(await terminal.close()).toBe(129);
});
