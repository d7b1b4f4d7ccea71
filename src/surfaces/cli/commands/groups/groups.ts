import { Option } from "commander";
import type { Command } from "commander";

import { type Trigger, unknownRequest } from "../../../../domain/chats/group.ts";
import { AppError } from "../../../../lib/app-error.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { addGroupSettings } from "./settings.ts";
import { ownCommand } from "../../../../lib/process/own-command.ts";
import { listChats } from "../../../../operations/chats/operations.ts";
import { addGroup } from "../../../../operations/groups/operations.ts";

/** Adds groups by their chat or its request, and changes their settings also without a host. */
export function addGroupCommands(groups: Command, context: CommandContext): void {
  addLeaf(groups, "add <name>", "register a chat as a group, with a folder of this name")
    .option("--channel <channel>", "channel of the chat")
    .option("--chat <chat>", `id of the chat, see \`${ownCommand("chats")}\``)
    .option("--code <code>", "code of the chat's request, instead of --channel and --chat")
    .addOption(new Option("--trigger <when>", "messages that the agent answers").choices(["mention", "always"]))
    .option("--main", "a main group: your own, where no mention is needed")
    .option("--model <route>", "model route")
    .option("--adopt", "take over the folder of this name from another chat")
    .action(
      async (
        name: string,
        options: ChatOptions & { trigger?: Trigger; main?: boolean; model?: string; adopt?: boolean },
        command: Command,
      ) => {
        const { trigger, main, model, adopt } = options;
        const { channel, chat } = await findChat(context, options);
        const group = await context.call(addGroup, { name, channel, chat, trigger, main, model, adopt });
        const output = context.outputOf(command);
        if (output.json) output.object(group);
        output.line(`Added group ${group.name}: chat ${group.chat} on ${group.channel}.`);
      },
    );

  addGroupSettings(groups, context);
}

interface ChatOptions {
  readonly channel?: string;
  readonly chat?: string;
  readonly code?: string;
}

/** The chat that is meant: named, or by the code of its request, which a denied one has, too. */
async function findChat(
  context: CommandContext,
  { channel, chat, code }: ChatOptions,
): Promise<{ readonly channel: string; readonly chat: string }> {
  if (code === undefined && channel !== undefined && chat !== undefined) return { channel, chat };
  if (code === undefined || channel !== undefined || chat !== undefined)
    throw new AppError("usage", "Name the chat: --channel and --chat, or only --code.", {
      fix: `See \`${ownCommand("chats")}\`.`,
    });
  const found = (await context.call(listChats, {})).find(({ request }) => request?.code === code.toUpperCase());
  if (!found) throw unknownRequest(code);
  return found;
}
