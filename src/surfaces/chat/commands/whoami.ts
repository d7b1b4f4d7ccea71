import { memberKey } from "../../../domain/people/person.ts";
import { quotedName } from "../../../lib/text/plain-words.ts";
import { visible } from "../../../lib/text/visible.ts";
import type { ChatCommand } from "../command.ts";

/** Shows a person's id and role here. */
export const whoami: ChatCommand = {
  name: "whoami",
  help: "your identity and role here",
  needs: "guest",
  run: async ({ pending: { message }, asker, commands }) => {
    const { role, why, person } = asker;
    const key = memberKey({ channel: message.channel, id: message.sender.id });
    const known = person === undefined ? "" : `, known to me as ${person}`;
    const article = role === "guest" || role === "member" ? "a" : "an";
    return {
      text: [
        `You are ${visible(key)}, called ${quotedName(message.sender.name)}${known}.`,
        `You are ${article} ${role} here: ${why}.`,
        `You can ask me, and use ${commands.map(({ name }) => `/${name}`).join(", ")}.`,
      ].join("\n"),
    };
  },
};
