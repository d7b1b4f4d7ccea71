import { spawn } from "node:child_process";
import { resolve } from "node:path";

import { collect, endOf } from "./vitest-run.ts";

/** Runs format, lint, types and dead code. Tests that run at the same time come before it when processors are rare. */
export async function runCheck(signal: AbortSignal): Promise<{ readonly code: number; readonly output: string }> {
  // In its own group: a shell's processes in the background do not hear Ctrl-C.
  const child = spawn("nice", ["-n", "5", resolve(import.meta.dirname, "../check")], {
    cwd: resolve(import.meta.dirname, "../.."),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const output = collect(child);
  const code = await endOf(child, signal);
  return { code, output: output.join("") };
}
