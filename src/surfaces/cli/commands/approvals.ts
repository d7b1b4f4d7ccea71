import { Option } from "commander";
import type { Command } from "commander";

import { wholeCall, wholeInput } from "../../../rights/approvals/card.ts";
import { type ApprovalScope, approvalScopes } from "../../../domain/rights/approval.ts";
import { AppError } from "../../../lib/app-error.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import { shorten } from "../../../lib/text/visible.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { formatTime } from "../formats.ts";
import {
  answerApproval,
  listApprovals,
  revokeApproval,
  showApproval,
} from "../../../operations/approvals/operations.ts";

const shownChars = 60;

export function addApprovalsCommand(program: Command, context: CommandContext): void {
  const approvals = program
    .command("approvals")
    .description("tool calls that people are asked about, and what they have allowed for longer");
  addListCommand(approvals, context);
  addShowCommand(approvals, context);
  addAnswerCommands(approvals, context);

  addLeaf(approvals, "revoke <id>", "take back what was allowed for a conversation, a day or always").action(
    async (id: string, _options: object, command: Command) => {
      const revoked = await context.call(revokeApproval, { id });
      const output = context.outputOf(command);
      if (output.json) output.object(revoked);
      output.line(`People are asked again about this call of ${revoked.tool} in group ${revoked.group}.`);
    },
  );
}

function addListCommand(approvals: Command, context: CommandContext): void {
  addLeaf(approvals, "list", "calls that wait for an answer, newest first, then what was allowed for longer")
    .option("--group <name>", "only this group")
    .option("--all", "also calls that were decided")
    .action(async ({ group, all }: { group?: string; all?: boolean }, command: Command) => {
      context.outputOf(command).items(
        await context.read(listApprovals, { group, all }),
        [
          { title: "code", of: ({ code }) => code },
          { title: "id", of: (row) => ("id" in row ? row.id : undefined) },
          { title: "group", of: ({ group: name }) => name },
          { title: "state", of: ({ state }) => state },
          { title: "scope", of: ({ scope }) => scope },
          { title: "risk", of: (row) => ("risk" in row ? row.risk : undefined) },
          { title: "asker", of: (row) => ("asker" in row ? row.asker : undefined) },
          { title: "until (UTC)", of: ({ expiresAt }) => expiresAt && formatTime(expiresAt) },
          { title: "tool", of: ({ tool }) => tool },
          { title: "input", of: ({ input }) => shorten(wholeInput(JSON.stringify(input)), shownChars) },
        ],
        "Nobody is asked about anything.",
      );
    });
}

function addShowCommand(approvals: Command, context: CommandContext): void {
  addLeaf(approvals, "show <code>", "all of a call that people are asked about").action(
    async (code: string, _options: object, command: Command) => {
      const approval = await context.read(showApproval, { code });
      const output = context.outputOf(command);
      if (output.json) return output.object(approval);
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
    },
  );
}

function addAnswerCommands(approvals: Command, context: CommandContext): void {
  addLeaf(approvals, "allow <code>", "let a call run, once and exactly as it is shown")
    .addOption(
      new Option("--scope <scope>", "how far it goes for calls with the same input")
        .choices([...approvalScopes])
        .default("once"),
    )
    .action(async (code: string, { scope }: { scope: ApprovalScope }, command: Command) => {
      const approval = await context.call(answerApproval, { code, decision: "allow", scope });
      const output = context.outputOf(command);
      if (output.json) output.object(approval);
      const { state, votes, quorum } = approval;
      const more = `${votes} of ${quorum} people have allowed it; the call waits for the others.`;
      output.line(state === "open" ? more : `${approval.tool} runs (${approval.code}).`);
      if (scope === "always") output.line(`${ownCommand("approvals list")} has the id to revoke it by.`);
    });

  addLeaf(approvals, "answer <code> [values...]", "fill in what a server asks: NAME=VALUE …, JSON, or the only value")
    .option("--yes", "of a question without values, or whose values all have defaults")
    .action(async (code: string, words: string[], { yes }: { yes?: boolean }, command: Command) => {
      if (words.length === 0 && yes !== true) throw new AppError("usage", `Say what ${code} asks for: NAME=VALUE …`);
      const approval = await context.call(answerApproval, { code, decision: "allow", values: words.join("\n") });
      const output = context.outputOf(command);
      if (output.json) output.object(approval);
      output.line(`${approval.tool} goes on with it (${approval.code}).`);
    });

  addLeaf(approvals, "deny <code>", "do not let a call run; the agent is told")
    .option("--reason <text>", "why, for the agent and for the chat")
    .action(async (code: string, { reason }: { reason?: string }, command: Command) => {
      const approval = await context.call(answerApproval, { code, decision: "deny", reason });
      const output = context.outputOf(command);
      if (output.json) output.object(approval);
      output.line(`${approval.tool} does not run (${approval.code}).`);
    });
}
