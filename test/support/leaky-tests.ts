import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { checkoutFolder } from "./engine.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly title: string; readonly failureMessages: readonly string[] }[];
  }[];
}

/**
 * Runs tests of test/fixtures/leaks. Gives the exit code, and what each file was told: of its tests, and as a whole.
 */
export async function runLeakyTests(
  ...names: readonly string[]
): Promise<{ code: number | null; told: Record<string, Record<string, string>> }> {
  await using folder = await temporaryFolder();
  const vitest = join(checkoutFolder, "node_modules/vitest/vitest.mjs");
  const report = join(folder.path, "report.json");
  const options = ["--config", "test/fixtures/leaks/vitest.config.ts", "--reporter=json", `--outputFile=${report}`];
  const { PATH, DOCKER_HOST } = process.env;
  const child = spawn(process.execPath, [vitest, "run", ...options, ...names.map((name) => `leaks/${name}.ts`)], {
    cwd: checkoutFolder,
    env: { PATH, ...(DOCKER_HOST === undefined ? {} : { DOCKER_HOST }) },
    stdio: "ignore",
  });
  const [code] = (await once(child, "close")) as [number | null];
  const results = (JSON.parse(await readFile(report, "utf8")) as Report).testResults;
  const told = results.map(({ name, message, assertionResults }) => {
    const tests = assertionResults.map(({ title, failureMessages }) => [title, failureMessages.join("\n")]);
    return [basename(name, ".ts"), { file: message, ...(Object.fromEntries(tests) as Record<string, string>) }];
  });
  return { code, told: Object.fromEntries(told) as Record<string, Record<string, string>> };
}
