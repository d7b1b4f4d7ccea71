import { formatTime } from "../../../lib/time/formats.ts";
import type { ApprovalView } from "../../../operations/approvals/approval-view.ts";
import { wholeCall } from "../../../rights/approvals/card.ts";
import type { Output } from "../output.ts";

export function showWholeApproval(output: Output, approval: ApprovalView): void {
  const { votes, quorum, decidedBy, decidedAt, usedAt } = approval;
  output.facts(approval, [
    ["code", approval.code],
    ["group", approval.group],
    ["turn", approval.turn],
    ["state", approval.state],
    ["scope", approval.scope],
    ["asked for", approval.asker],
    ["because of", approval.reason],
    ["risk", approval.risk],
    ["may answer", `${approval.approvers} or higher`],
    ["allowed by", quorum > 1 ? `${votes} of ${quorum} people` : undefined],
    ["until (UTC)", formatTime(approval.expiresAt)],
    ["decided by", decidedBy],
    ["decided (UTC)", decidedAt && formatTime(decidedAt)],
    ["in words", approval.answer],
    ["used (UTC)", usedAt && formatTime(usedAt)],
    ["tool", approval.tool],
    ["sha256", approval.sha256],
    ["outcome", approval.outcome],
  ]);
  const { diff } = approval;
  const change = diff === undefined ? undefined : { diff, base: "" };
  output.line(wholeCall({ input: JSON.stringify(approval.input), change }));
}
