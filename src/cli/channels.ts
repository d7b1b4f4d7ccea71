import type { Command } from "commander";

import type { LoginEvent } from "../gateway/operations.ts";
import type { CommandContext } from "./context.ts";
import { addLeaf } from "./context.ts";
import { formatTime } from "./formats.ts";

export function addChannelsCommand(program: Command, context: CommandContext): void {
  const channels = program.command("channels").description("list channels, link an account");

  addLeaf(channels, "list", "the running channels and their states").action(
    async (_options: object, command: Command) => {
      context.outputOf(command).items(
        await context.host.listChannels(),
        [
          { title: "channel", of: (channel) => channel.name },
          { title: "state", of: (channel) => channel.state },
          { title: "since (UTC)", of: (channel) => formatTime(channel.since) },
          { title: "detail", of: (channel) => channel.detail },
        ],
        "No channel is running.",
      );
    },
  );

  addLeaf(channels, "login <name>", "link a channel to an account, where it needs one").action(
    async (name: string, _options: object, command: Command) => {
      const output = context.outputOf(command);
      for await (const event of context.host.login(name)) {
        if (output.json) output.object(event);
        else output.line(describeEvent(event));
      }
    },
  );
}

function describeEvent(event: LoginEvent): string {
  if ("qr" in event) return `Scan this code with the app:\n${event.qr}`;
  if ("pairingCode" in event) return `Type this code into the app: ${event.pairingCode}`;
  return event.detail ?? `The channel is ${event.state}.`;
}
