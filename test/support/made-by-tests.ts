import { AsyncLocalStorage } from "node:async_hooks";
import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";

/** The name of the test in which code runs; undefined in what the tests of a file share. */
export const runningTest = new AsyncLocalStorage<string>();

/** Things made in this test file that must be gone at its end, with their test. */
export const made = {
  processes: new Map<ChildProcess, string | undefined>(),
  folders: new Map<string, string | undefined>(),
  /** By name. Those that are mounted one of the folders need not be here. */
  containers: new Map<string, string | undefined>(),
  /** Kinds of handles that a library leaves open, which we cannot mend. */
  tolerated: new Set<string>(),
  /** Whether there can be containers at all. */
  usesEngine: false,
  /** Files that were open until the garbage collector closed them. */
  collectedFiles: 0,
};

// Whoever starts it: a helper, a test or the product.
subscribe("child_process", (message) => {
  made.processes.set((message as { process: ChildProcess }).process, runningTest.getStore());
});

process.on("warning", (warning) => {
  if (/FileHandle object on garbage collection/.test(warning.message)) made.collectedFiles += 1;
});

/** Another test file begins: they run in the same process, one after another, and each answers for itself. */
export function forgetWhatWasMade(): void {
  made.processes.clear();
  made.folders.clear();
  made.containers.clear();
  made.tolerated.clear();
  made.usesEngine = false;
  made.collectedFiles = 0;
}

export function noteFolder(path: string): void {
  made.folders.set(path, runningTest.getStore());
}

export function noteContainer(name: string): void {
  made.usesEngine = true;
  made.containers.set(name, runningTest.getStore());
}

/** Somebody may make containers now. */
export function noteEngine(): void {
  made.usesEngine = true;
}

/** For a library that does not end what it begins: handles of this kind may be left in this file. */
export function tolerateHandles(kind: string): void {
  made.tolerated.add(kind);
}

/** For messages. */
export function byTest(test: string | undefined): string {
  return test === undefined ? "" : ` of the test "${test}"`;
}
