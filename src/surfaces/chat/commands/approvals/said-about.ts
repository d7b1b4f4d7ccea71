import type { Answered } from "../../../../domain/rights/approval.ts";
import { settledError } from "../../../../rights/approvals/approval-service.ts";
import { describeDecision, isSaidLater } from "../../../../rights/approvals/words.ts";

/** Reply to an answer, by what came of it; undefined where it comes when files have been changed. */
export function saidAbout({ answered }: { readonly answered?: Answered | undefined }): string | undefined {
  if (!answered) return "Nothing was decided.";
  const { outcome, approval } = answered;
  if (outcome === "settled") return settledError(approval).message;
  return isSaidLater(approval) ? undefined : describeDecision(approval);
}
