import type { Command } from "commander";

import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { formatTime } from "../formats.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import { approveRequest, denyRequest, forgetRequest, listChats } from "../../../operations/chats/operations.ts";

export function addChatsCommand(program: Command, context: CommandContext): void {
  const chats = addLeaf(program, "chats", "unregistered chats that somebody wrote in; texts are not kept");
  addAnswers(chats, context);
  addLeaf(chats, "forget <code>", "forget a request, even a denied one: its chat may ask again").action(
    async (code: string, _options: object, command: Command) => {
      const forgotten = await context.call(forgetRequest, { code });
      const output = context.outputOf(command);
      if (output.json) output.object(forgotten);
      output.line(`Request ${code} is forgotten.`);
    },
  );
  chats
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

function addAnswers(chats: Command, context: CommandContext): void {
  addLeaf(chats, "approve <code>", "let a chat in that asked: it becomes a group")
    .option("--name <name>", "what the group is called; otherwise like the chat")
    .action(async (code: string, { name }: { name?: string }, command: Command) => {
      const approved = await context.call(approveRequest, { code, name });
      const output = context.outputOf(command);
      if (output.json) output.object(approved);
      const { group, chat, channel } = approved;
      output.line(`Added group ${group}: chat ${chat} on ${channel}.`);
    });
  addLeaf(chats, "deny <code>", "leave a chat unanswered that asked; it is not told").action(
    async (code: string, _options: object, command: Command) => {
      const denied = await context.call(denyRequest, { code });
      const output = context.outputOf(command);
      if (output.json) output.object(denied);
      output.line(
        `The chat of request ${code} stays silent. ${ownCommand(`chats approve ${code}`)} would still make it a group.`,
      );
    },
  );
}
