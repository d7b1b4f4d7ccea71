import type { Command } from "commander";

import { AppError } from "../../../../lib/app-error.ts";
import { answerApproval } from "../../../../operations/approvals/operations.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";

/** Answers a form: what its fields are is known to the host alone. */
export function addAnswerCommand(approvals: Command, context: CommandContext): void {
  addLeaf(approvals, "answer <code> [values...]", "fill in a server's form: NAME=VALUE …, JSON, or the only value")
    .option("--yes", "a form without values, or with defaults only")
    .action(async (code: string, words: string[], { yes }: { yes?: boolean }, command: Command) => {
      if (words.length === 0 && yes !== true) throw new AppError("usage", `Add the values for ${code}: NAME=VALUE …`);
      const approval = await context.call(answerApproval, { code, decision: "allow", values: words.join("\n") });
      const output = context.outputOf(command);
      if (output.json) output.object(approval);
      output.line(`${approval.tool} continues (${approval.code}).`);
    });
}
