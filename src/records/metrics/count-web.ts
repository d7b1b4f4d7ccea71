import { Counter, type Registry } from "prom-client";

/** Counts what agents have of the web. */
export type WebCounter = (use: string, outcome: "answered" | "refused", bytes: number) => void;

/** Registers what is counted of the web. */
export function countWeb(registers: Registry[]): WebCounter {
  const calls = new Counter({
    name: "crabpot_web_total",
    help: "Pages and searches of agents that were answered, by whatever status, and those that were refused or failed",
    labelNames: ["use", "outcome"],
    registers,
  });
  const bytes = new Counter({
    name: "crabpot_web_bytes_total",
    help: "Bytes that came of pages and searches, unpacked",
    labelNames: ["use"],
    registers,
  });
  return (use, outcome, count) => {
    calls.inc({ use, outcome });
    bytes.inc({ use }, count);
  };
}
