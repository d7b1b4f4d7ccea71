import type { VerifyResult } from "../verify/verify.ts";
import type { Figures, RecordName } from "./figures.ts";

/** Verification of the log and of the report's records. */
export interface ReportVerdict {
  readonly ok: boolean;
  /** In one sentence or two. */
  readonly summary: string;
  /** Signing key of the log; null: none found. */
  readonly signer: string | null;
  /** Records of the whole log that are good, from the first one on. */
  readonly goodRecords: number;
  /** The last record that a good checkpoint signs; 0: none. */
  readonly signedUpTo: number;
  /** First record of the range; null: none. */
  readonly first: RecordName | null;
  readonly last: RecordName | null;
  /** The last good record of the log, for comparison with an anchor. */
  readonly head: { readonly seq: number; readonly hash: string } | null;
  readonly firstBadRecord: number | null;
  readonly place: { readonly file: string; readonly line: number | null } | null;
  readonly reason: string | null;
  readonly proves: readonly string[];
  readonly doesNotProve: readonly string[];
}

/** The verdict over a range. A log that is broken anywhere is broken; what was read before that place is still told. */
export function reportVerdict(result: VerifyResult, { first, last, records }: Figures): ReportVerdict {
  const { ok, signer, head, proves, doesNotProve } = result;
  const signedUpTo = Math.max(0, Math.min(result.records, (head?.seq ?? 0) - result.unanchoredTail));
  return {
    ok,
    summary: ok ? goodSummary(result, signedUpTo, { first, last, records }) : badSummary(result, records),
    signer: signer ?? null,
    goodRecords: result.records,
    signedUpTo: signer === undefined ? 0 : signedUpTo,
    first: first ?? null,
    last: last ?? null,
    head: head ?? null,
    ...faultOf(result),
    proves,
    doesNotProve,
  };
}

function faultOf({
  firstBadSeq,
  file,
  line,
  reason,
}: VerifyResult): Pick<ReportVerdict, "firstBadRecord" | "place" | "reason"> {
  const place = file === undefined ? null : { file, line: line ?? null };
  return { firstBadRecord: firstBadSeq ?? null, place, reason: reason ?? null };
}

function goodSummary(
  { records: all, signer }: VerifyResult,
  signedUpTo: number,
  { first, last, records }: Pick<Figures, "first" | "last" | "records">,
): string {
  const chain = `UNBROKEN: the ${all} records of the log stand as they were written, each continuing the one before.`;
  const told =
    first && last
      ? `This report tells of ${records}, from record ${first.record} to record ${last.record}.`
      : "None of them is told about in this report.";
  return `${chain} ${told} ${describeSigned(signer, signedUpTo, last?.record)}`;
}

function describeSigned(signer: string | undefined, signedUpTo: number, last: number | undefined): string {
  if (signer === undefined || signedUpTo === 0) return "None is signed yet.";
  if (last === undefined || last <= signedUpTo) return `They are signed by ${signer}.`;
  return `They are signed by ${signer} up to record ${signedUpTo}; the rest is not signed yet.`;
}

function badSummary({ firstBadSeq, records: good, file, line, reason }: VerifyResult, told: number): string {
  const place = file === undefined ? "" : ` (${file}${line === undefined ? "" : `, line ${line}`})`;
  const fault = `at record ${firstBadSeq ?? "?"}${place}: ${reason ?? "it does not match its hash"}`;
  if ((firstBadSeq ?? 0) <= good)
    return `BROKEN ${fault}. A log of a container is not what the audit log says of it; the records themselves are unbroken.`;
  const rest =
    told === 0 ? "None of them is told about here" : `This report tells of ${told} of them, and of nothing after`;
  return `BROKEN ${fault}. Only the ${good} records before it can be trusted. ${rest}.`;
}
