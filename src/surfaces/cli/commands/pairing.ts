import type { Command } from "commander";

import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { formatTime } from "../formats.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import { approvePairing, denyRequest, listPairings } from "../../../operations/chats/operations.ts";

export function addPairingCommand(program: Command, context: CommandContext): void {
  const pairing = program.command("pairing").description("let people in who write to the account directly");

  addLeaf(pairing, "list", "who has got a code, and until when it is valid").action(
    async (_options: object, command: Command) => {
      context.outputOf(command).items(
        await context.call(listPairings, {}),
        [
          { title: "code", of: (asked) => asked.code },
          { title: "state", of: (asked) => asked.state },
          { title: "called", of: (asked) => asked.name },
          { title: "id", of: (asked) => asked.id },
          { title: "chat", of: (asked) => asked.chat },
          { title: "valid until (UTC)", of: (asked) => formatTime(asked.expiresAt) },
        ],
        "Nobody waits to be paired.",
      );
    },
  );

  addLeaf(pairing, "approve <code>", "let somebody in by the code that they tell you: their chat becomes a group")
    .option("--name <name>", "what the group is called; otherwise like the person")
    .action(async (code: string, { name }: { name?: string }, command: Command) => {
      const approved = await context.call(approvePairing, { code, name });
      const output = context.outputOf(command);
      if (output.json) output.object(approved);
      output.line(`Added group ${approved.group}: chat ${approved.chat} on ${approved.channel}.`);
    });

  addLeaf(pairing, "deny <code>", "leave somebody unanswered; they are not told, and get no further code").action(
    async (code: string, _options: object, command: Command) => {
      const denied = await context.call(denyRequest, { code });
      const output = context.outputOf(command);
      if (output.json) output.object(denied);
      output.line(`Their chat stays silent. ${ownCommand(`chats forget ${code}`)} lets them ask again.`);
    },
  );
}
