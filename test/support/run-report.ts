import { relative, sep } from "node:path";

import type { Reporter, SerializedError, TestCase, TestModule, TestRunEndReason, Vitest } from "vitest/node";

/** The numbers of a run of tests, as `scripts/testing/vitest-run.ts` gets them. */
export interface RunNumbers {
  readonly passed: number;
  /** Also what failed outside of a test, such as a file that could not be loaded: where it is 0, everything is fine. */
  readonly failed: number;
  readonly skipped: number;
  /** Names of what failed. */
  readonly failures: readonly string[];
  /** Seconds that each file took, by its path in the checkout. */
  readonly seconds: Readonly<Record<string, number>>;
  readonly isInterrupted: boolean;
}

/** The last line of a run: CI looks for it in exactly this form. */
export function lastLine({ passed, failed, skipped }: Pick<RunNumbers, "passed" | "failed" | "skipped">): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/** The ten slowest files and the time of each folder. */
export function timesOfRun(seconds: RunNumbers["seconds"]): string {
  const files = Object.entries(seconds).toSorted(([, one], [, other]) => other - one);
  const folders = Map.groupBy(files, ([path]) => path.split("/").slice(0, -1).slice(0, 2).join("/"));
  const sums = [...folders].map(([folder, inIt]) => {
    const sum = inIt.reduce((total, [, more]) => total + more, 0);
    return { folder, sum, count: inIt.length };
  });
  return [
    "Slowest files",
    ...files.slice(0, 10).map(([path, time]) => `  ${time.toFixed(1).padStart(6)} s ${path}`),
    "Folders",
    ...sums
      .toSorted((one, other) => other.sum - one.sum)
      .map(({ folder, sum, count }) => `  ${folder} ${(sum / 60).toFixed(1)} min in ${count} files`),
  ].join("\n");
}

/** Lines of an error that are printed at once; the default reporter prints all of it in the end. */
const linesOfFailure = 8;

/**
 * Prints each failure as soon as it happens. After a run it says where its time went, and how many tests passed: at the
 * end of the output, or to the process that started it.
 */
export default class RunReport implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  /** The default reporter prints failures when the run ends, which may be a quarter of an hour away. */
  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    if (result.state !== "failed") return;
    const [error] = result.errors;
    const words = error?.stack ?? error?.message ?? "";
    const lines = [`FAILED ${pathOf(test.module)} > ${test.fullName}`, ...words.split("\n", linesOfFailure)];
    this.#vitest?.logger.log(lines.join("\n  "));
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[], reason: TestRunEndReason): void {
    const numbers = numbersOf(modules, errors, reason);
    const say = (text: string): void => this.#vitest?.logger.log(text);
    if (Object.keys(numbers.seconds).length > 10) say(`${timesOfRun(numbers.seconds)}\n`);
    if (process.send === undefined) say(lastLine(numbers));
    else process.send(numbers);
  }
}

function numbersOf(
  modules: readonly TestModule[],
  errors: readonly SerializedError[],
  reason: TestRunEndReason,
): RunNumbers {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const inState = (state: string) => tests.filter((test) => test.result().state === state);
  const passed = inState("passed").length;
  const failedTests = inState("failed");
  const brokenParts = modules.flatMap((module) =>
    [module, ...module.children.allSuites()].filter((part) => part.errors().length > 0),
  );
  const failures = [
    ...failedTests.map((test) => `${pathOf(test.module)} > ${test.fullName}`),
    ...brokenParts.map((part) => (part.type === "module" ? pathOf(part) : `${pathOf(part.module)} > ${part.fullName}`)),
    ...errors.map(({ message }) => message),
  ];
  return {
    passed,
    failed: failures.length,
    skipped: tests.length - passed - failedTests.length,
    failures,
    seconds: Object.fromEntries(modules.map((module) => [pathOf(module), secondsOf(module)])),
    isInterrupted: reason === "interrupted",
  };
}

function pathOf({ moduleId, project }: TestModule): string {
  return relative(project.vitest.config.root, moduleId).replaceAll(sep, "/");
}

function secondsOf(module: TestModule): number {
  const { duration, collectDuration, setupDuration } = module.diagnostic();
  return (duration + collectDuration + setupDuration) / 1000;
}
