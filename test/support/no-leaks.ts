import type { ChildProcess } from "node:child_process";
import { createHook } from "node:async_hooks";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";

import { aroundAll, aroundEach } from "vitest";

import { byTest, forgetWhatWasMade, made, runningTest } from "./made-by-tests.ts";
import { openDescriptors, openFiles } from "./open-files.ts";

/**
 * Run before each test file: fails a test that leaves a process or a folder behind, and a file that leaves anything
 * behind that would keep its process running, an open file, a listener on `process`, or a container.
 */

/** Time for ended things to close; only a leak takes this long. */
const closingLimitMs = Number(process.env["CRABPOT_TEST_CLOSING_LIMIT_MS"] ?? 60_000);

type Concerns = (test: string | undefined) => boolean;

forgetWhatWasMade();
// Node opens it with its first use, and importing node:process is one.
void process.stdin;
const atTheStart = countHandles();
/** Tests after which there was more of something than before. */
const suspects = new Map<string, Set<string>>();
let hasFailure = false;

aroundEach(async (runTest, { task }) => {
  const before = countKinds();
  const descriptors = openDescriptors();
  await runningTest.run(task.fullTestName, runTest);
  const files = openFiles(descriptors).map((path) => `open file ${path}`);
  for (const name of [...moreThan(before, countKinds()).keys(), ...files])
    suspects.set(name, (suspects.get(name) ?? new Set()).add(task.name));
  // One that fails may not have come to its clean-up, and its failure is what should be read.
  if (task.result?.state === "fail") hasFailure = true;
  else await failIfLeft((test) => test === task.fullTestName);
});

// Sockets and timers may be shared by the tests of a file, or close after the test: those are counted in the end.
aroundAll(async (runSuite) => {
  await runSuite();
  if (hasFailure) return;
  await failIfLeft(() => true, handlesLeft);
  if (!made.usesEngine) return;
  const { removeContainersLeft } = await import("./containers-left.ts");
  fail(await removeContainersLeft());
});

async function failIfLeft(concerns: Concerns, more: () => string[] = () => []): Promise<void> {
  const look = () => [...processesLeft(concerns), ...foldersLeft(concerns), ...more()];
  await untilEmpty(look);
  const left = look();
  if (left.length > 0) await removeLeft(concerns);
  fail(left);
}

function fail(left: readonly string[]): void {
  if (left.length === 0) return;
  hasFailure = true;
  throw new Error(`Left behind:\n${left.map((line) => `- ${line}`).join("\n")}`);
}

/** Looks again whenever a process, a socket, a timer or the like has ended. */
async function untilEmpty(look: () => string[]): Promise<void> {
  if (look().length === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const hook = createHook({ destroy: () => look().length === 0 && resolve() }).enable();
  const limit = setTimeout(resolve, closingLimitMs).unref();
  await promise;
  clearTimeout(limit);
  hook.disable();
}

function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

function processesLeft(concerns: Concerns): string[] {
  return [...made.processes]
    .filter(([child, test]) => concerns(test) && isRunning(child))
    .map(([child, test]) => `process ${child.pid}, ${child.spawnargs.join(" ")}${byTest(test)}`);
}

function foldersLeft(concerns: Concerns): string[] {
  return [...made.folders]
    .filter(([path, test]) => concerns(test) && existsSync(path))
    .map(([path, test]) => `folder ${path}${byTest(test)}`);
}

/** Removes leftovers, so that they harm no other test and are reported once. */
async function removeLeft(concerns: Concerns): Promise<void> {
  for (const [child, test] of made.processes) if (concerns(test) && isRunning(child)) child.kill("SIGKILL");
  for (const [path, test] of made.folders) if (concerns(test)) await rm(path, { recursive: true, force: true });
}

/** Counts handles that keep this process running, listeners that change its end, by kind, and open files, by path. */
function countHandles(): Map<string, number> {
  const counts = countKinds();
  for (const path of openFiles()) counts.set(`open file ${path}`, (counts.get(`open file ${path}`) ?? 0) + 1);
  return counts;
}

function countKinds(): Map<string, number> {
  // Requests to the system end by themselves; processes are told by name.
  const handles = process
    .getActiveResourcesInfo()
    .filter((name) => !/Req|Immediate|(Write|Shutdown|Process)Wrap/.test(name));
  const counts = new Map<string, number>();
  for (const name of handles) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const event of process.eventNames().filter((name) => /^SIG|^uncaught|^unhandled/.test(String(name)))) {
    counts.set(`listener to ${String(event)} of this process`, process.listenerCount(event));
  }
  const { collectedFiles } = made;
  if (collectedFiles > 0) counts.set("file that was closed only by the garbage collector", collectedFiles);
  return counts;
}

/** By how many there are more. */
function moreThan(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): Map<string, number> {
  const differences = [...after].map(([name, now]) => [name, now - (before.get(name) ?? 0)] as const);
  return new Map(differences.filter(([, more]) => more > 0));
}

function handlesLeft(): string[] {
  const left = [...moreThan(atTheStart, countHandles())].filter(([name]) => !made.tolerated.has(name));
  return left.map(([name, count]) => {
    const tests = [...(suspects.get(name) ?? [])].map((test) => `"${test}"`);
    return `${count} × ${name}${tests.length === 0 ? "" : `, probably of ${tests.join(", ")}`}`;
  });
}
