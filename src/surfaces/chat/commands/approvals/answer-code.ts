import { deciderOf, formFault, lengthFault, roleFault } from "../../../../rights/approvals/answer-rules.ts";
import { settledError } from "../../../../rights/approvals/approval-service.ts";
import { scopeFault } from "../../../../rights/approvals/words.ts";
import { type Approval, type ApprovalAnswer, approvalScopes } from "../../../../domain/rights/approval.ts";
import { memberKey } from "../../../../domain/people/person.ts";
import { isAtLeast } from "../../../../domain/people/role.ts";
import type { CommandOutcome, CommandServices, GivenCommand } from "../../command.ts";
import { saidAbout } from "./said-about.ts";

/** Longest reason that is kept; more is cut. */
const reasonChars = 400;

/**
 * Handles `/approve` and `/deny`: the code belongs to a tool call asked in this very chat, or, in main groups, to a
 * chat that asks to become a group. Codes of other chats are unknown here.
 */
export async function answerCode(given: GivenCommand, { answers }: CommandServices): Promise<CommandOutcome> {
  const { group, pending, asker } = given;
  const { channel, chat, sender, seq } = pending.message;
  const [said = ""] = wordsOf(given);
  const code = said.toUpperCase();
  // A direct chat may have the name of who is in it, and counts for itself.
  const who = `person ${memberKey({ channel, id: sender.id })}`;
  if (await answers.tries.isLocked(who)) return { text: "Too many wrong codes. Try again in five minutes." };
  const approval = await answers.approvalOf(code);
  if (approval?.channel === channel && approval.chat === chat) return answerApproval(given, approval);
  const mayAdmit = group.main && isAtLeast(asker.role, "admin");
  if (code !== "" && !(mayAdmit && (await answers.isRequest(code)))) await answers.tries.wrong(who, seq);
  if (mayAdmit) return answers.admit(pending);
  return {
    text: `${code === "" ? "Add the code" : "Unknown code. Use"}: ${usage(given)}`,
  };
}

function answerApproval(given: GivenCommand, approval: Approval): CommandOutcome {
  const { asker, pending } = given;
  const { command, message } = pending;
  const { code, approvers } = approval;
  if (approval.state !== "open") return { text: settledError(approval).message };
  const fault = roleFault(approval, asker, approvers) ?? (command === "approve" ? faultOf(given, approval) : undefined);
  if (fault !== undefined) return { text: fault };
  const words = wordsOf(given).slice(1);
  const answer: Omit<ApprovalAnswer, "at"> = {
    code,
    allow: command === "approve",
    scope: approvalScopes.find((scope) => scope === words[0]?.toLowerCase()) ?? "once",
    reason: command === "deny" && words.length > 0 ? words.join(" ").slice(0, reasonChars).toWellFormed() : undefined,
    by: deciderOf({ channel: message.channel, sender: message.sender, ...asker }),
  };
  return {
    answers: { answer, to: approval },
    text: saidAbout,
  };
}

/** Returns why the answer is invalid: nobody allows what was not fully shown, or more than they know. */
function faultOf(given: GivenCommand, approval: Approval): string | undefined {
  const [scope = "once", ...more] = wordsOf(given).slice(1);
  const wanted = approvalScopes.find((known) => known === scope.toLowerCase());
  if (wanted === undefined || more.length > 0) return `Use: ${usage(given)}`;
  return scopeFault(approval, wanted) ?? formFault(approval) ?? lengthFault(approval);
}

function usage({ pending }: GivenCommand): string {
  return pending.command === "approve" ? "/approve CODE [once|session|day|always]" : "/deny CODE [reason]";
}

function wordsOf({ pending }: GivenCommand): string[] {
  return (pending.argument ?? "").trim().split(/\s+/);
}
