import { probeReport } from "../../src/protocol/messages.ts";
import type { ProbeReport } from "../../src/protocol/messages.ts";
import { readJson } from "../../src/protocol/mailbox-json.ts";

/** What the image's probe found out about what this container can and cannot do. Throws for what is no valid report. */
export function readProbeReport(output: string): ProbeReport {
  const json = readJson(output);
  if (!json.ok) throw new Error(`The report of the probe cannot be read: ${json.reason}`);
  return probeReport.parse(json.value);
}
