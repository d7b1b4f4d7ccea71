import { memberKey } from "../../domain/people/person.ts";
import { quotedName } from "../../lib/text/plain-words.ts";
import { visible } from "../../lib/text/visible.ts";
import type { ChatCommand } from "./command.ts";

/** Says by which id somebody is known, and what they may here. */
export const whoami: ChatCommand = {
  name: "whoami",
  help: "says who you are to me, and what you may here",
  needs: "guest",
  run: async ({ pending: { message }, asker, commands }) => {
    const { role, why, person } = asker;
    const key = memberKey({ channel: message.channel, id: message.sender.id });
    const known = person === undefined ? "" : `, whom I know as ${person}`;
    const article = role === "guest" || role === "member" ? "a" : "an";
    return {
      text: [
        `You are ${visible(key)}, called ${quotedName(message.sender.name)}${known}.`,
        `Here you are ${article} ${role}: ${why}.`,
        `You may ask me, and write ${commands.map(({ name }) => `/${name}`).join(", ")}.`,
      ].join("\n"),
    };
  },
};
