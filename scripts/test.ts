import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { lastLine } from "../test/support/run-report.ts";
import { runCheck } from "./testing/check-run.ts";
import { pathIn, relatedTests } from "./testing/related-tests.ts";
import { sourcesOfCheckout } from "./testing/sources.ts";
import { timesToWrite } from "./testing/times.ts";
import { runVitest, stopSignal } from "./testing/vitest-run.ts";

/**
 * Runs what `npm test` stands for: the tests, and beside them format, lint, types and dead code. Words are handed to
 * vitest, but `--related FILE…` chooses what a change of these files can break, and `--write-times` writes down how
 * long each file took.
 */
const words = process.argv.slice(2);
const isForTimes = words.includes("--write-times");
const chosen = await chooseTests(words.filter((word) => word !== "--write-times"));
if (chosen !== undefined) process.exitCode = await run(chosen);

/** Arguments for vitest; `undefined` when there is nothing to run, and the reason was printed. */
async function chooseTests(asked: readonly string[]): Promise<readonly string[] | undefined> {
  if (asked[0] !== "--related") return asked;
  const end = asked.findIndex((word, index) => index > 0 && word.startsWith("-"));
  const names = asked.slice(1, end < 0 ? undefined : end);
  const sources = sourcesOfCheckout();
  // npm runs this in the checkout, wherever it was called.
  const from = process.env["INIT_CWD"] ?? process.cwd();
  const unknown = names.filter((name) => pathIn(sources, from, name) === undefined);
  if (names.length === 0 || unknown.length > 0) {
    const problem = names.length === 0 ? "it names no file" : `there is no file ${unknown.join(", ")} in this checkout`;
    say(
      `--related: ${problem}. To fix it: npm test -- --related FILE…, with files that git knows or could add`,
      "stderr",
    );
    process.exitCode = 2;
    return undefined;
  }
  const changed = names.map((name) => String(pathIn(sources, from, name)));
  const related = await relatedTests(sources, changed);
  if (related === undefined) say("related: all tests, as any of them may depend on it");
  else say(`related: ${related.length} test files`);
  if (related?.length === 0) {
    say(lastLine({ passed: 0, failed: 0, skipped: 0 }));
    return undefined;
  }
  return [...(related ?? []), ...(end < 0 ? [] : asked.slice(end))];
}

async function run(chosenWords: readonly string[]): Promise<number> {
  const stop = stopSignal();
  const testsStopped = new AbortController();
  const checking = runCheck(AbortSignal.any([stop, testsStopped.signal])).then((check) => {
    if (check.code !== 0 && !stop.aborted && !testsStopped.signal.aborted)
      say("check failed: what it says follows the tests");
    return check;
  });
  const tests = await runVitest(chosenWords, { signal: stop });
  // Somebody has ended it, and wants to see no more of this.
  if (tests.code > 128) testsStopped.abort();
  const check = await checking;
  if (stop.aborted || testsStopped.signal.aborted) return stop.aborted ? Number(stop.reason) : tests.code;
  say(check.code === 0 ? "check passed" : `check failed:\n${check.output}`);
  const { passed, failed, skipped, seconds } = tests.numbers;
  const failures = failed + (check.code === 0 ? 0 : 1);
  if (isForTimes && failures === 0)
    await writeFile(join(resolve(import.meta.dirname, ".."), "test/times.json"), timesToWrite(seconds));
  say(lastLine({ passed, failed: failures, skipped }));
  return tests.code === 0 && check.code !== 0 ? 1 : tests.code;
}

function say(line: string, stream: "stdout" | "stderr" = "stdout"): void {
  process[stream].write(`${line}\n`);
}
