import type { Command } from "commander";

import type { CommandContext } from "./context.ts";
import { addLeaf } from "./context.ts";
import { formatTime } from "./formats.ts";

export function addChatsCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "chats", "chats that somebody wrote in and that are no group yet; texts are not kept")
    .option("--all", "with those that are a group")
    .action(async (options: { all?: boolean }, command: Command) => {
      const chats = await context.host.listChats();
      const shown = chats.filter((chat) => options.all === true || chat.group === undefined);
      context.outputOf(command).items(
        shown,
        [
          { title: "channel", of: (chat) => chat.channel },
          { title: "chat", of: (chat) => chat.chat },
          { title: "group", of: (chat) => chat.group },
          { title: "messages", of: (chat) => chat.messages },
          { title: "first seen (UTC)", of: (chat) => formatTime(chat.firstSeenAt) },
          { title: "last seen (UTC)", of: (chat) => formatTime(chat.lastSeenAt) },
        ],
        "No unregistered chat has been seen.",
      );
    });
}
