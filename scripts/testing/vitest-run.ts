import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { resolve } from "node:path";

import type { RunNumbers } from "../../test/support/run-report.ts";

const checkoutFolder = resolve(import.meta.dirname, "../..");

/** Outcome of a test run. */
export interface RunOutcome {
  readonly code: number;
  readonly numbers: RunNumbers;
  /** Output, if it was not shown immediately. */
  readonly output: string;
}

/** Runs vitest with these words. `isQuiet` keeps what it prints for the outcome. When the signal comes, it ends. */
export async function runVitest(
  words: readonly string[],
  { isQuiet = false, signal }: { readonly isQuiet?: boolean; readonly signal: AbortSignal },
): Promise<RunOutcome> {
  const output = isQuiet ? "pipe" : "inherit";
  // In its own group, with the hosts that tests have started: where vitest alone is ended, its workers go on.
  const child = spawn(process.execPath, [resolve(checkoutFolder, "node_modules/vitest/vitest.mjs"), "run", ...words], {
    cwd: checkoutFolder,
    stdio: ["ignore", output, output, "ipc"],
    detached: true,
  });
  let numbers: RunNumbers | undefined;
  child.on("message", (message) => (numbers = message as RunNumbers));
  const printed = collect(child);
  const code = await endOf(child, signal);
  // One that fell over before its end has failed, and so has one that says that it is fine but ends as if it were not.
  const ended = numbers ?? {
    passed: 0,
    failed: 0,
    skipped: 0,
    failures: [],
    seconds: {},
    isInterrupted: signal.aborted,
  };
  const isUnexplained = ended.failed === 0 && (code !== 0 || numbers === undefined);
  return {
    code: code === 0 && isUnexplained ? 1 : code,
    numbers: isUnexplained ? { ...ended, failed: 1, failures: [`vitest ended with code ${code}`] } : ended,
    output: printed.join(""),
  };
}

/** Resolves with the exit code of the leader of a process group, all of which is told to end when the signal comes. */
export async function endOf(child: ChildProcess, signal: AbortSignal): Promise<number> {
  const end = (): unknown => process.kill(-Number(child.pid), "SIGTERM");
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  const [code, endedBy] = await closed;
  signal.removeEventListener("abort", end);
  return code ?? 128 + (endedBy === null ? 0 : constants.signals[endedBy]);
}

/** Collects a child's output, readable before its end. */
export function collect(child: ChildProcess): readonly string[] {
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => chunks.push(text));
  return chunks;
}

/** Aborts on Ctrl-C or a request to end. Its reason is the exit code. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => controller.abort(128 + constants.signals[name]));
  }
  return controller.signal;
}
