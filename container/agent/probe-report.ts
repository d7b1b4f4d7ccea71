import { readJson } from "../../src/protocol/mailbox-json.ts";
import type { ProbeReport } from "../../src/protocol/messages.ts";

type Kind = "number" | "string" | "boolean" | "array" | "object";

/** The report's fields. The host checks all of it; here a broken probe is told from a good one. */
const fields: Readonly<Record<keyof ProbeReport, Kind>> = {
  uid: "number",
  gid: "number",
  groups: "array",
  capabilities: "object",
  noNewPrivs: "number",
  seccomp: "number",
  interfaces: "array",
  rootReadOnly: "boolean",
  mounts: "array",
  environment: "array",
  attempts: "array",
};

/**
 * Reads what the image's probe has printed about this container, without a schema: libraries that check by one take
 * longer to load than all else that the agent does before it is ready. Throws for what is no report.
 */
export function readProbeReport(output: string): ProbeReport {
  const json = readJson(output);
  if (!json.ok) throw new Error(`The report of the probe cannot be read: ${json.reason}`);
  const report = json.value as Readonly<Record<string, unknown>> | null;
  const wrong = Object.entries(fields).find(([name, kind]) => kindOf(report?.[name]) !== kind);
  if (wrong) throw new Error(`The report of the probe cannot be read: ${wrong[0]}: expected ${wrong[1]}`);
  return report as unknown as ProbeReport;
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value;
}
