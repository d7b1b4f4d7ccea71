import type { Command } from "commander";

import type { CommandContext } from "../../context.ts";
import { formatTime } from "../../../../lib/time/formats.ts";
import { listChats } from "../../../../operations/chats/operations.ts";

/** Lists chats that are no groups, unless all are wanted. */
export function addChatList(chats: Command, context: CommandContext): void {
  chats
    .option("--json", "print one JSON object per line")
    .option("--all", "include chats that are groups")
    .action(async (options: { all?: boolean }, command: Command) => {
      const known = await context.read(listChats, {});
      const shown = known.filter((chat) => options.all === true || chat.group === undefined);
      context.outputOf(command).items(
        shown,
        [
          { title: "channel", of: (chat) => chat.channel },
          { title: "chat", of: (chat) => chat.chat },
          { title: "title", of: (chat) => [chat.title, chat.left === true ? "(left)" : undefined].join(" ").trim() },
          { title: "group", of: (chat) => chat.group },
          { title: "request", of: (chat) => chat.request && `${chat.request.state} ${chat.request.code}` },
          { title: "messages", of: (chat) => chat.messages },
          { title: "first seen (UTC)", of: (chat) => formatTime(chat.firstSeenAt) },
          { title: "last seen (UTC)", of: (chat) => formatTime(chat.lastSeenAt) },
        ],
        "No unregistered chat has been seen.",
      );
    });
}
