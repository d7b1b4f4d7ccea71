import type { Command } from "commander";
import { renderUnicodeCompact } from "uqr";

import type { LoginEvent } from "../../../channels/channel.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { formatTime } from "../formats.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import { listChannels, loginChannel } from "../../../operations/channels/operations.ts";

export function addChannelsCommand(program: Command, context: CommandContext): void {
  const channels = program.command("channels").description("list channels, link an account");

  addLeaf(channels, "list", "the running channels and their states").action(
    async (_options: object, command: Command) => {
      context.outputOf(command).items(
        await context.call(listChannels, {}),
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

  addLeaf(channels, "login <name>", "link a channel to an account, where it needs one")
    .option("--phone <number>", "link with a code for this phone number, not with a QR code")
    .action(async (name: string, { phone }: { phone?: string }, command: Command) => {
      const output = context.outputOf(command);
      let last: LoginEvent | undefined;
      for await (const event of context.host.follow(loginChannel, {
        name,
        phoneNumber: phone?.replaceAll(/[\s+()-]/g, ""),
      })) {
        last = event;
        if (output.json) output.object(event);
        else output.line(describeEvent(event));
      }
      if (!last || !("state" in last) || last.state !== "open") {
        throw new AppError("unauthorized", `The channel ${name} is not linked.`, {
          fix: `See \`${ownCommand("channels list")}\`.`,
        });
      }
    });
}

function describeEvent(event: LoginEvent): string {
  if ("qr" in event) {
    const picture = renderUnicodeCompact(event.qr, { border: 2 });
    return `In the app on the phone: Settings, Linked devices, Link a device. Scan this code; a new one appears when it expires.\n${picture}`;
  }
  if ("pairingCode" in event) return `Type this code into the app: ${event.pairingCode}`;
  return event.detail ?? `The channel is ${event.state}.`;
}
