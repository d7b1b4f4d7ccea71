import type { Approval } from "../../../../domain/rights/approval.ts";
import { memberKey } from "../../../../domain/people/person.ts";
import { deciderOf, pathFault, roleFault } from "../../../../rights/approvals/answer-rules.ts";
import { settledError } from "../../../../rights/approvals/approval-service.ts";
import type { ChatCommand, CommandOutcome, GivenCommand } from "../../command.ts";
import { saidAbout } from "./said-about.ts";

/** Paths that one command may name. */
const mostPaths = 100;

/** Lets what the agent changed in a folder with review into the real folder: all of it, or some paths. */
export const apply = decideReview("apply", "put changes of the agent into the folder");

/** Takes away what the agent changed in a folder with review. */
export const discard = decideReview("discard", "take changes of the agent away");

/** The code belongs to a card in this very chat; codes of other chats, and of other questions, are unknown here. */
function decideReview(name: "apply" | "discard", help: string): ChatCommand {
  return {
    name,
    help,
    takes: "CODE [path …]",
    needs: "member",
    needsReview: true,
    run: async (given, { answers }) => {
      const { channel, chat, sender, seq } = given.pending.message;
      const [said = "", ...paths] = wordsOf(given.pending.argument ?? "");
      const code = said.toUpperCase();
      const usage = `/${name} CODE [path …]`;
      const who = `person ${memberKey({ channel, id: sender.id })}`;
      if (await answers.tries.isLocked(who)) return { text: "Too many wrong codes. Try again in five minutes." };
      const approval = await answers.approvalOf(code);
      if (approval?.about === "review" && approval.channel === channel && approval.chat === chat)
        return decide(given, approval, { allow: name === "apply", paths });
      if (code !== "") await answers.tries.wrong(who, seq);
      const fault = code === "" ? "Add the code of the card" : "No changes are asked about here with this code. Use";
      return { text: `${fault}: ${usage}` };
    },
  };
}

function decide(
  { asker, pending }: GivenCommand,
  approval: Approval,
  { allow, paths }: { readonly allow: boolean; readonly paths: readonly string[] },
): CommandOutcome {
  const { code, state, approvers } = approval;
  if (state !== "open") return { text: settledError(approval).message };
  const fault =
    roleFault(approval, asker, approvers) ??
    (paths.length > mostPaths ? `At most ${mostPaths} paths at once.` : pathFault(approval, paths));
  if (fault !== undefined) return { text: fault };
  const { channel, sender } = pending.message;
  const by = deciderOf({ channel, sender, ...asker });
  const answer = { code, allow, scope: "once", by, ...(paths.length > 0 && { paths }) } as const;
  return { answers: { answer, to: approval }, text: saidAbout };
}

/** Words of a command; a path with blanks stands in quotation marks. */
function wordsOf(argument: string): string[] {
  return [...argument.matchAll(/"([^"]*)"|“([^“”]*)”|(\S+)/gu)].map(
    ([, quoted, curly, plain]) => quoted ?? curly ?? plain ?? "",
  );
}
