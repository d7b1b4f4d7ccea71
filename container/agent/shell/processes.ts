import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

import { shellMark } from "./script.ts";

/** Scope in which a shell's processes are searched. */
export interface ProcessScope {
  /** Value that they carry in the environment they were started with. */
  readonly mark: string;
  /** All processes of this pid namespace but the agent and process 1 were started by the agent's shell. */
  readonly ownsPidNamespace: boolean;
  /** Marks of processes that are not the shell's own. */
  readonly spared?: (() => readonly string[]) | undefined;
}

/** Processes at once that are more than work leaves behind, and fewer than any sensible limit. */
const chokingProcesses = 32;
/** Rounds of killing processes that keep starting others. */
const rounds = 5;
/** Time for each signal to everything, in turn: a killed process keeps its slot until it is reaped. */
const clearingMs = [20, 50, 100, 200, 500, 1_000, 2_000] as const;

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
 * Kills what a shell left outside its process group. What forks faster than it is hunted, or has thrown the mark away,
 * is only stopped by one signal to everything, which is right nowhere but in our own pid namespace. Resolves when
 * others can be started again, or when the kernel has not made room in some seconds.
 */
export async function killLeftovers(scope: ProcessScope): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const found = await markedProcesses(scope.mark);
    if (found.length === 0) break;
    for (const pid of found) signalProcess(pid, "SIGKILL");
    await delay(10);
  }
  if (!scope.ownsPidNamespace) return;
  for (const waitMs of clearingMs) {
    if (!(await isChoked(scope))) return;
    signalProcess(-1, "SIGKILL");
    await delay(waitMs);
  }
}

/** True when the limit of processes prevents new ones. */
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
 * Whether the kernel lets us start a process at all. Found out by starting one, unless there are so few that it must:
 * that is half of what a short command takes.
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

/**
 * Kills all that was started with this variable, `NAME=value`, and the process groups it is in, which must be none of
 * ours: what has written over its environment goes with the others. Resolves when there is nothing left, or after some
 * tries.
 */
export async function killStartedWith(variable: string): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const found = await processesWith([variable]);
    if (found.length === 0) return;
    for (const pid of found) signalProcess(-(await groupOf(pid)), "SIGKILL");
    await delay(10);
  }
}

/** Process group; the process's own number for one that has ended, whose group is empty. */
async function groupOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  // Its name may hold anything: what counts is behind it, after the state and the parent.
  const group = Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[2]);
  return group > 1 ? group : pid;
}

async function markedProcesses(...marks: readonly string[]): Promise<number[]> {
  return processesWith(marks.map((mark) => `${shellMark}=${mark}`));
}

async function processesWith(needles: readonly string[]): Promise<number[]> {
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
