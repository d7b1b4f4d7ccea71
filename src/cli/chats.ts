import type { Command } from "commander";

import type { CommandContext } from "./context.ts";
import { addLeaf } from "./context.ts";
import { formatTime } from "./formats.ts";

export function addChatsCommand(program: Command, context: CommandContext): void {
  const chats = addLeaf(program, "chats", "unregistered chats that somebody wrote in; texts are not kept");
  addLeaf(chats, "forget <code>", "forget a request, even a denied one: its chat may ask again").action(
    async (code: string, _options: object, command: Command) => {
      const forgotten = await context.host.forgetRequest(code);
      const output = context.outputOf(command);
      if (output.json) output.object(forgotten);
      output.line(`Request ${code} is forgotten.`);
    },
  );
  chats
    .option("--all", "include chats that are groups")
    .action(async (options: { all?: boolean }, command: Command) => {
      const known = await context.read((host) => host.listChats());
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
