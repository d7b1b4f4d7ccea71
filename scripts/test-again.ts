import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";

import { runVitest, stopSignal } from "./testing/vitest-run.ts";

/**
 * Runs test files again and again, to see one fail that does so now and then. With `--busy` the machine has other work
 * beside.
 */
const usage = "usage: npm run test:again -- FILE… [--times 20] [--busy] [--config FILE]";

/** Starts a busy process per processor; they end with this process. */
function startBusyProcesses(): ChildProcess[] {
  const work = `process.on("disconnect", () => process.exit());
    (function work() { const end = Date.now() + 50; while (Date.now() < end); setImmediate(work); })();`;
  return Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ["-e", work], { stdio: ["ignore", "ignore", "inherit", "ipc"] }),
  );
}

async function endBusyProcesses(busy: readonly ChildProcess[]): Promise<void> {
  await Promise.all(
    busy.map(async (child) => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }),
  );
}

function asked(): { files: readonly string[]; times: number; isBusy: boolean; config: readonly string[] } | undefined {
  try {
    const { values, positionals } = parseArgs({
      options: {
        times: { type: "string", default: "20" },
        busy: { type: "boolean", default: false },
        config: { type: "string" },
      },
      allowPositionals: true,
    });
    const times = Number(values.times);
    if (positionals.length === 0 || !Number.isInteger(times) || times < 1) return undefined;
    const config = values.config === undefined ? [] : ["--config", values.config];
    return { files: positionals, times, isBusy: values.busy, config };
  } catch {
    return undefined;
  }
}

async function runAgain({ files, times, isBusy, config }: NonNullable<ReturnType<typeof asked>>): Promise<number> {
  const stop = stopSignal();
  const busy = isBusy ? startBusyProcesses() : [];
  const seconds: number[] = [];
  const failures: string[] = [];
  try {
    for (let run = 1; run <= times; run += 1) {
      const begun = performance.now();
      const { numbers, output } = await runVitest([...config, ...files], { isQuiet: true, signal: stop });
      if (stop.aborted) break;
      seconds.push((performance.now() - begun) / 1000);
      if (numbers.failed === 0) continue;
      failures.push(`run ${run}: ${numbers.failures.join(", ")}`);
      say(`run ${run} failed:\n${output}`);
    }
  } finally {
    await endBusyProcesses(busy);
  }
  const failed = failures.length === 0 ? "" : ` (${failures.join("; ")})`;
  say(`${seconds.length} runs: ${seconds.length - failures.length} passed, ${failures.length} failed${failed}`);
  if (seconds.length > 0) say(timesLine(seconds));
  if (stop.aborted) return Number(stop.reason);
  return failures.length === 0 ? 0 : 1;
}

function timesLine(seconds: readonly number[]): string {
  const sorted = seconds.toSorted((one, other) => one - other);
  const at = (index: number): string => `${(sorted[index] ?? 0).toFixed(1)} s`;
  return `time of a run: min ${at(0)}, median ${at(Math.floor(sorted.length / 2))}, max ${at(sorted.length - 1)}`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const wanted = asked();
if (wanted === undefined) process.stderr.write(`${usage}\n`);
process.exitCode = wanted === undefined ? 2 : await runAgain(wanted);
