import type { Command } from "commander";

import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { send } from "../../../operations/outbox/operations.ts";

export function addSendCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "send <group> <text>", "say something in a group's chat as the host; its agent is not told").action(
    async (group: string, text: string, _options: object, command: Command) => {
      const sent = await context.call(send, { group, text });
      const output = context.outputOf(command);
      if (output.json) output.object({ id: sent.seq, ...sent });
      output.line(`Message ${sent.seq} is in the outbox for group ${group}.`);
    },
  );
}
