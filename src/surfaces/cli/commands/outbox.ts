import { Option } from "commander";
import type { Command } from "commander";

import type { OutboxState } from "../../../domain/chats/message.ts";
import { AppError } from "../../../lib/app-error.ts";
import { shorten } from "../../../lib/text/visible.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { formatTime } from "../formats.ts";
import { listOutbox, type OutboxView, retryOutbox } from "../../../operations/outbox/operations.ts";
import { parseCount } from "../parse-count.ts";

const states = ["queued", "sending", "accepted", "delivered", "uncertain", "dead"];
const shownChars = 60;

export function addOutboxCommand(program: Command, context: CommandContext): void {
  const outbox = program.command("outbox").description("list outgoing messages, retry failed ones");
  addListCommand(outbox, context);

  addLeaf(outbox, "retry [seq]", "queue a dead or uncertain message again, as new")
    .option("--all-dead", "all dead messages")
    .action(async (seq: string | undefined, options: { allDead?: boolean }, command: Command) => {
      const answer = await context.call(retryOutbox, whatToRetry(seq, options.allDead === true));
      const output = context.outputOf(command);
      const { length } = answer.retried;
      if (output.json) output.object(answer);
      output.line(`${length} ${length === 1 ? "message is" : "messages are"} queued again.`);
    });
}

function addListCommand(outbox: Command, context: CommandContext): void {
  addLeaf(outbox, "list", "sent and pending messages, newest first")
    .option("--group <name>", "only this group")
    .addOption(new Option("--state <state>", "only in this state").choices(states))
    .option("--limit <count>", "how many", parseCount, 20)
    .action(
      async ({ group, state, limit }: { group?: string; state?: OutboxState; limit: number }, command: Command) => {
        context.outputOf(command).items(
          await context.read(listOutbox, { group, state, limit }),
          [
            { title: "seq", of: (message) => message.seq },
            { title: "group", of: (message) => message.group },
            { title: "channel", of: (message) => message.channel },
            { title: "kind", of: (message) => message.kind },
            { title: "state", of: (message) => message.state },
            { title: "attempts", of: (message) => message.attempts },
            { title: "written (UTC)", of: (message) => formatTime(message.createdAt) },
            { title: "reason", of: (message) => message.error },
            { title: "text", of: (message) => shorten(contentOf(message), shownChars) },
          ],
          "There are no such messages.",
        );
      },
    );
}

function contentOf({ text, file, reaction, pruned }: OutboxView): string {
  if (pruned === true) return "(no longer kept)";
  if (reaction) return `[reaction: ${reaction.emoji}]`;
  return file ? `[file: ${file.name}] ${text}` : text;
}

function whatToRetry(seq: string | undefined, allDead: boolean): { readonly seq: number } | { readonly allDead: true } {
  if (allDead === (seq !== undefined)) {
    throw new AppError("usage", "Say which message to retry: its number, or --all-dead.");
  }
  if (seq === undefined) return { allDead: true };
  if (!/^[1-9]\d{0,14}$/.test(seq)) throw new AppError("usage", `"${seq}" is not the number of a message.`);
  return { seq: Number(seq) };
}
