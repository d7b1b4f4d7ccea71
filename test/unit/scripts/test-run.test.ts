import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const checkout = resolve(import.meta.dirname, "../../..");

const config = `import { defineConfig } from "vitest/config";
import RunReport from "./test/support/run-report.ts";
export default defineConfig({ cacheDir: "cache", test: { include: ["test/*.test.ts"], reporters: ["default", new RunReport()] } });
`;
const passing = `import { test } from "vitest";
import "../src/one.ts";
test("passes", () => {});
test("passes as well", () => {});
test.skip("does not run", () => {});
`;
const failing = `import { test } from "vitest";
test("fails", () => { throw new Error("broken"); });
`;
const failingFirst = `import { existsSync } from "node:fs";
import { expect, test } from "vitest";
test("fails", () => { throw new Error("broken"); });
test("waits", { timeout: 600_000 }, () => expect.poll(() => existsSync("seen"), { timeout: 600_000 }).toBe(true));
`;
const hanging = `import { writeFileSync } from "node:fs";
import { test } from "vitest";
test("hangs", { timeout: 600_000 }, () => {
  setInterval(() => {}, 1_000);
  writeFileSync("tests.pid", String(process.pid));
  return new Promise(() => {});
});
`;

interface TestedCheckout extends AsyncDisposable {
  readonly path: string;
  /** Starts what `npm test` does when set-up is over. */
  start(...words: string[]): ReturnType<typeof spawn>;
  run(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
}

/** A checkout with the real test runner and sample tests. */
async function testedCheckout(files: Readonly<Record<string, string>>): Promise<TestedCheckout> {
  const folder = await temporaryFolder();
  const all = { "vitest.config.ts": config, "package.json": "{}", "src/one.ts": "", "src/two.ts": "", ...files };
  for (const [path, content] of Object.entries(all)) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), content);
  }
  await chmod(join(folder.path, "scripts/check"), 0o755);
  for (const path of ["scripts/test.ts", "scripts/testing", "test/support/run-report.ts"]) {
    await cp(join(checkout, path), join(folder.path, path), { recursive: true });
  }
  await symlink(join(checkout, "node_modules"), join(folder.path, "node_modules"));
  execFileSync("git", ["init", "--quiet"], { cwd: folder.path });
  const start: TestedCheckout["start"] = (...words) =>
    spawn(process.execPath, ["scripts/test.ts", ...words], {
      cwd: folder.path,
      env: { PATH: process.env["PATH"], CI: "true", NO_COLOR: "1", INIT_CWD: folder.path },
      stdio: ["ignore", "pipe", "pipe"],
    });
  return {
    path: folder.path,
    start,
    run: async (...words) => {
      const child = start(...words);
      if (child.stdout === null || child.stderr === null) throw new Error("nothing to read from");
      const [stdout, stderr, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, "close"),
      ]);
      return { code: code as number, stdout, stderr };
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const check = (words: string): string => `#!/bin/sh\n${words}\n`;

test("when tests and check pass, the last line counts the tests", async () => {
  await using tested = await testedCheckout({ "test/a.test.ts": passing, "scripts/check": check("echo fine") });
  const { code, stdout } = await tested.run();
  expect(stdout).toMatch(/Test Files +1 passed \(1\)\n +Tests +2 passed \| 1 skipped \(3\)/);
  expect(stdout).not.toContain("fine");
  expect({ code, end: stdout.split("\n").slice(-3) }).toEqual({
    code: 0,
    end: ["check passed", "2 passed, 0 failed, 1 skipped", ""],
  });
});

test("a check that fails is one failure more, and what it says stands whole behind what the tests say", async () => {
  const failed = check("echo first; echo second >&2; exit 3");
  await using tested = await testedCheckout({
    "test/a.test.ts": passing,
    "test/b.test.ts": failing,
    "scripts/check": failed,
  });
  const { code, stdout } = await tested.run("test/a.test.ts");
  expect({ code, end: stdout.split("\n").slice(-5) }).toEqual({
    code: 1,
    end: ["check failed:", "first", "second", "", "2 passed, 1 failed, 1 skipped", ""].slice(-5),
  });
  expect((await tested.run()).stdout).toMatch(/\n2 passed, 2 failed, 1 skipped\n$/);
});

test("a failure is printed as soon as it happens", async () => {
  await using tested = await testedCheckout({ "test/a.test.ts": failingFirst, "scripts/check": check(":") });
  const child = tested.start();
  let printed = "";
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => (printed += piece));
  const closed = once(child, "close");
  await expect.poll(() => printed, { timeout: 120_000 }).toMatch(/FAILED test\/a\.test\.ts > fails\n +Error: broken\n/);
  await writeFile(join(tested.path, "seen"), "");
  expect((await closed)[0]).toBe(1);
});

test("a file that cannot be loaded is one failure, and no times are written down after it", async () => {
  await using tested = await testedCheckout({
    "test/a.test.ts": passing,
    "test/b.test.ts": "throw new Error('broken');",
    "scripts/check": check(":"),
    "test/times.json": "{}",
  });
  const { code, stdout } = await tested.run("--write-times");
  expect({ code, end: stdout.split("\n").at(-2) }).toEqual({ code: 1, end: "2 passed, 1 failed, 1 skipped" });
  expect(await readFile(join(tested.path, "test/times.json"), "utf8")).toBe("{}");
});

test("Ctrl-C ends the tests and the check", async () => {
  const slow = check("echo $$ >check.pid; sleep 600 & wait");
  await using tested = await testedCheckout({ "test/a.test.ts": hanging, "scripts/check": slow });
  const child = tested.start();
  const files = ["tests.pid", "check.pid"].map((name) => join(tested.path, name));
  await expect.poll(() => files.filter((path) => existsSync(path)), { timeout: 120_000 }).toEqual(files);
  const closed = once(child, "close");
  child.kill("SIGINT");
  expect((await closed)[0]).toBe(130);
  for (const path of files) {
    const pid = Number(await readFile(path, "utf8"));
    await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 120_000 }).toBe(false);
  }
});

test("only what a change can break is run, and a file that is missing is refused", async () => {
  await using tested = await testedCheckout({
    "test/a.test.ts": passing,
    "test/b.test.ts": failing,
    "test/support/build-first.ts": "",
    "test/support/no-leaks.ts": "",
    "scripts/check": check(":"),
  });
  expect((await tested.run("--related", "src/one.ts", "-t", "as well")).stdout).toMatch(
    /\n1 passed, 0 failed, 2 skipped\n$/,
  );
  expect((await tested.run("--related", "src/two.ts")).stdout).toMatch(/\n0 passed, 0 failed, 0 skipped\n$/);
  expect((await tested.run("--related", "package.json")).stdout).toMatch(/\n2 passed, 1 failed, 1 skipped\n$/);
  const { code, stderr } = await tested.run("--related", "src/one.ts", "src/three.ts");
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining(
      "there is no file src/three.ts in this checkout. To fix it: npm test -- --related FILE…",
    ) as string,
  });
  expect((await tested.run("--related")).code).toBe(2);
});
