import { deciderOf, roleFault } from "../../../../rights/approvals/answer-rules.ts";
import { settledError } from "../../../../rights/approvals/approval-service.ts";
import { cancelWord } from "../../../../rights/approvals/forms/forms.ts";
import type { Approval, ApprovalAnswer } from "../../../../domain/rights/approval.ts";
import type { FormValue } from "../../../../domain/rights/form.ts";
import { memberKey } from "../../../../domain/people/person.ts";
import type { ChatCommand, CommandOutcome, CommandServices, GivenCommand } from "../../command.ts";
import { saidAbout } from "./said-about.ts";

const usage = "/answer CODE name=value …, /answer CODE decline, or /answer CODE cancel";

/** Answers what a server has asked while it worked on a call. */
export const answer: ChatCommand = {
  name: "answer",
  help: "answer a question of an MCP server",
  takes: "CODE name=value … | decline | cancel",
  needs: "member",
  run: async (given, services) => {
    const { channel, chat, sender, seq } = given.pending.message;
    const [code, said] = codeAndWords(given);
    const who = `person ${memberKey({ channel, id: sender.id })}`;
    if (await services.answers.tries.isLocked(who)) return { text: "Too many wrong codes. Try again in five minutes." };
    const approval = await services.answers.approvalOf(code);
    if (approval?.about === "form" && approval.channel === channel && approval.chat === chat)
      return answerForm(given, services, { approval, said });
    if (code !== "") await services.answers.tries.wrong(who, seq);
    return {
      text: `${code === "" ? "Add the code of the question" : "No server has asked here with this code. Use"}: ${usage}`,
    };
  },
};

function answerForm(
  given: GivenCommand,
  services: CommandServices,
  { approval, said }: { readonly approval: Approval; readonly said: string },
): CommandOutcome {
  const { asker, pending } = given;
  if (approval.state !== "open") return { text: settledError(approval).message };
  const fault = roleFault(approval, asker, approval.approvers);
  if (fault !== undefined) return { text: fault };
  const by = deciderOf({ channel: pending.message.channel, sender: pending.message.sender, ...asker });
  const no = /^(?:decline|deny|(cancel))$/i.exec(said);
  if (no)
    return outcomeOf(approval, { code: approval.code, allow: false, scope: "once", reason: no[1] && cancelWord, by });
  const filled = services.answers.forms.read(approval.code, said);
  if (!filled) return { text: `${approval.code} is no longer needed: the call that asked has ended.` };
  if ("fault" in filled) return { text: `Invalid answer: ${filled.fault}. Use: ${usage}` };
  return outcomeOf(approval, { code: approval.code, allow: true, scope: "once", by }, filled.content);
}

function outcomeOf(
  to: Approval,
  given: Omit<ApprovalAnswer, "at">,
  values?: Record<string, FormValue>,
): CommandOutcome {
  return {
    answers: { answer: given, to, values },
    text: saidAbout,
  };
}

function codeAndWords({ pending }: GivenCommand): readonly [string, string] {
  const [, code = "", said = ""] = /^(\S*)\s*([^]*)$/.exec((pending.argument ?? "").trim()) ?? [];
  return [code.toUpperCase(), said.trim()];
}
