import type { ReportHead } from "./report-format.ts";

/** Facts about the report, as pairs of name and value. */
export function headFacts(head: ReportHead): readonly (readonly [string, string])[] {
  const { verdict } = head;
  return [
    ["From", `${head.localFrom} (included)`],
    ["To", `${head.localTo} (not included)`],
    ["Time zone", head.timeZone],
    ["Group", head.group ?? "all"],
    ["Records", String(head.figures.records)],
    ["First record", describe(verdict.first)],
    ["Last record", describe(verdict.last)],
    ["Signed by", verdict.signer ?? "nobody: no public key was found"],
    ["Anchor", verdict.head ? `${verdict.head.seq}:${verdict.head.hash}` : "none"],
    ["Texts", head.withTexts ? "as far as the store has them; they are not in the audit log" : "not in this report"],
    ["Made at", head.createdAt],
  ];
}

function describe(record: { readonly record: number; readonly time: string } | null): string {
  return record ? `${record.record} (${record.time})` : "none";
}
