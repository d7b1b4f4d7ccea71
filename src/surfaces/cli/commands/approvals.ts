import type { Command } from "commander";

import { AppError } from "../../../lib/app-error.ts";
import { answerApproval } from "../../../operations/approvals/operations.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";

/** Answers a form: what its fields are is known to the host alone. */
export function addAnswerCommand(approvals: Command, context: CommandContext): void {
  addLeaf(approvals, "answer <code> [values...]", "fill in what a server asks: NAME=VALUE …, JSON, or the only value")
    .option("--yes", "of a question without values, or whose values all have defaults")
    .action(async (code: string, words: string[], { yes }: { yes?: boolean }, command: Command) => {
      if (words.length === 0 && yes !== true) throw new AppError("usage", `Say what ${code} asks for: NAME=VALUE …`);
      const approval = await context.call(answerApproval, { code, decision: "allow", values: words.join("\n") });
      const output = context.outputOf(command);
      if (output.json) output.object(approval);
      output.line(`${approval.tool} goes on with it (${approval.code}).`);
    });
}
