import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

import { shellMark } from "./script.ts";

/** Where a shell's processes are looked for. */
export interface ProcessScope {
  /** Value that they carry in the environment they were started with. */
  readonly mark: string;
  /** All processes of this pid namespace but the agent and process 1 were started by the agent's shell. */
  readonly ownsPidNamespace: boolean;
  /** Marks of what runs beside the shell and does not count as its own. */
  readonly spared?: (() => readonly string[]) | undefined;
}

/** Processes at once that are more than work leaves behind, and fewer than any sensible limit. */
const chokingProcesses = 32;
/** How often processes that keep starting others are hunted one by one. */
const rounds = 5;

/** True when a signal could be sent; false when there is nothing to send it to. A negative id is a process group. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Waits until a process group is empty. False when it is not after the time given. */
export async function groupEnds(group: number, timeoutMs: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs <= timeoutMs; waitedMs += 20) {
    if (!signalProcess(-group, 0)) return true;
    await delay(20);
  }
  return false;
}

/**
 * Kills what a shell left outside its process group. What forks faster than it is hunted, or has thrown the mark away, is
 * only stopped by one signal to everything, which is right nowhere but in a pid namespace of our own.
 */
export async function killLeftovers(scope: ProcessScope): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const found = await markedProcesses(scope.mark);
    if (found.length === 0) break;
    for (const pid of found) signalProcess(pid, "SIGKILL");
    await delay(10);
  }
  if (scope.ownsPidNamespace && (await isChoked(scope))) signalProcess(-1, "SIGKILL");
}

/** Whether there are so many processes that others cannot be started. */
export async function isChoked(scope: ProcessScope): Promise<boolean> {
  return (await isCrowded(scope)) || !(await canStartProcess(scope));
}

/** Whether a shell has far more processes than it should have. */
export async function isCrowded({ mark, ownsPidNamespace, spared }: ProcessScope): Promise<boolean> {
  const found = ownsPidNamespace ? await allProcesses() : await markedProcesses(mark);
  if (found.length < chokingProcesses) return false;
  const besides = ownsPidNamespace ? await markedProcesses(...(spared?.() ?? [])) : [];
  return found.length - besides.length >= chokingProcesses;
}

/**
 * Whether the kernel lets us start a process at all. Found out by starting one, unless there are so few that it must: that
 * is half of what a short command takes.
 */
export async function canStartProcess({ ownsPidNamespace }: Pick<ProcessScope, "ownsPidNamespace">): Promise<boolean> {
  if (ownsPidNamespace && threadsOf(await allProcesses()) < chokingProcesses) return true;

  return new Promise((resolve) => {
    execFile("/bin/true", (error) => resolve(error?.code !== "EAGAIN"));
  });
}

/** The limit counts threads; what is gone by now has none. */
function threadsOf(pids: readonly number[]): number {
  let threads = 0;
  for (const pid of pids) threads += (statSync(`/proc/${pid}/task`, { throwIfNoEntry: false })?.nlink ?? 2) - 2;
  return threads;
}

async function markedProcesses(...marks: readonly string[]): Promise<number[]> {
  const needles = marks.map((mark) => `${shellMark}=${mark}`);
  const found: number[] = [];
  if (needles.length === 0) return found;
  for (const pid of await allProcesses()) {
    // It may be gone by now, or somebody else's.
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    if (needles.some((needle) => environment.includes(needle))) found.push(pid);
  }
  return found;
}

async function allProcesses(): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number);
  return pids.filter((pid) => Number.isInteger(pid) && pid !== process.pid && pid !== 1);
}
