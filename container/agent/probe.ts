import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { probeReport } from "../../src/protocol/messages.ts";
import type { ProbeReport } from "../../src/protocol/messages.ts";
import { readJson } from "../../src/protocol/mailbox-json.ts";

const timeoutMs = 10_000;

/** Runs the image's probe, which finds out what this container can and cannot do. Throws when it gives no valid report. */
export async function runProbe(path: string, environment: Readonly<Record<string, string>>): Promise<ProbeReport> {
  const options = { timeout: timeoutMs, killSignal: "SIGKILL", env: environment, encoding: "utf8" } as const;
  const { stdout } = await promisify(execFile)("python3", [path], options);
  const json = readJson(stdout);
  if (!json.ok) throw new Error(`The report of ${path} cannot be read: ${json.reason}`);
  return probeReport.parse(json.value);
}
