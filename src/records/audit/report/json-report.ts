import { escapeJson } from "../../../lib/text/visible.ts";
import type { ReportFormat, ReportHead } from "./report-format.ts";

/** Version of the shape; changed when outside programs could notice. */
const version = 1;

/** One JSON object on one line, as docs/audit.md describes it. */
export function jsonReport(): ReportFormat {
  return {
    head: (head) => `${toJson(shapeOf(head)).slice(0, -1)},"sections":{`,
    opens: (section) => `${section === "asked" ? "" : ","}${JSON.stringify(section)}:[`,
    entry: (_section, entry, index) => `${index === 0 ? "" : ","}${toJson(entry)}`,
    closes: () => "]",
    end: () => "}}\n",
  };
}

function shapeOf({ figures, verdict, usageRows, ...head }: ReportHead): object {
  const { types, days, total, groups, models } = figures;
  return {
    kind: "crabpot-audit-report",
    version,
    ...head,
    verdict,
    records: figures.records,
    types,
    days,
    cost: { total, groups, models },
    usageRows,
  };
}

function toJson(value: object): string {
  return escapeJson(JSON.stringify(value));
}
