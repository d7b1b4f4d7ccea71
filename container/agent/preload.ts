/*
 * Imported before everything else, so that the probe runs while the rest of the program is still being loaded: it takes
 * as long, and the host waits for both.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { readOptions } from "./options.ts";
import type { AgentOptions } from "./options.ts";

const timeoutMs = 10_000;

/** Throws when the program was not started as the host starts it. */
export const options: AgentOptions = readOptions(process.argv.slice(2), process.env);

/** Report of the image's probe, as printed. */
export const probeOutput: Promise<string> = startProbe(options);

async function startProbe({ probe, environment }: AgentOptions): Promise<string> {
  const limits = { timeout: timeoutMs, killSignal: "SIGKILL", env: environment, encoding: "utf8" } as const;
  // Isolated, without the packages of the machine: the probe needs none, and looking for them takes time.
  const { stdout } = await promisify(execFile)("python3", ["-I", "-S", probe], limits);
  return stdout;
}

// Whoever waits for it hears of a failure; until then nobody does.
probeOutput.catch(() => undefined);
