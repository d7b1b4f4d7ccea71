import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const checkout = resolve(import.meta.dirname, "../../..");

function startAgain(memory: string, ...words: string[]) {
  return spawn(process.execPath, [join(checkout, "scripts/test-again.ts"), ...words], {
    cwd: checkout,
    env: { PATH: process.env["PATH"], CI: "true", CRABPOT_TEST_MEMORY: memory },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

test("a file that fails every second time is found out, with other work beside that ends with the runs", async () => {
  await using folder = await temporaryFolder();
  const words = ["--config", "test/fixtures/again/vitest.config.ts", "--times", "3", "--busy", "again/every-second"];
  const child = startAgain(join(folder.path, "memory"), ...words);
  const printed = text(child.stdout);
  const children = () => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ");
  await expect.poll(() => children().length).toBe(availableParallelism() + 1);
  const beside = children();
  const [[code], output] = await Promise.all([once(child, "close"), printed]);
  expect(code).toBe(1);
  const failed = "run 2: test/fixtures/again/every-second.ts > it passes every second time";
  expect(output).toContain(`3 runs: 2 passed, 1 failed (${failed})\n`);
  expect(output).toMatch(/^time of a run: min [\d.]+ s, median [\d.]+ s, max [\d.]+ s$/m);
  expect(beside.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
});

test.each([[[]], [["x.test.ts", "--times", "none"]], [["x.test.ts", "--unknown"]]])(
  "words that it does not understand are refused: %j",
  async (words) => {
    const child = startAgain("", ...words);
    const [[code], said] = await Promise.all([once(child, "close"), text(child.stderr)]);
    expect({ code, said }).toEqual({
      code: 2,
      said: expect.stringContaining("usage: npm run test:again -- FILE…") as string,
    });
  },
);
