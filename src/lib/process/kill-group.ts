import type { ChildProcess } from "node:child_process";

/** Kills a process that leads a group of its own, with all that it has started; one that has ended is left alone. */
export function killGroup(child: ChildProcess): void {
  const { pid, exitCode, signalCode } = child;
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL");
  }
}
