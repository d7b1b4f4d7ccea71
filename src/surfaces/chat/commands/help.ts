import { agentsOf } from "../../../domain/turns/session.ts";
import { nearest } from "../../../lib/text/nearest.ts";
import { quotedName } from "../../../lib/text/plain-words.ts";
import type { ChatCommand, GivenCommand } from "../command.ts";

/** Lists the commands; with a word that resembles one, says which was probably meant. */
export const help: ChatCommand = {
  name: "help",
  help: "this list",
  needs: "guest",
  run: async ({ group, pending: { argument }, commands, agentName }, services) => {
    if (argument !== undefined) return { text: describeSlip(argument, commands) };
    const lines = commands.map(({ name, takes, help: does }) =>
      takes === undefined ? `/${name}: ${does}` : `/${name} ${takes}: ${does}`,
    );
    const hearsAll = group.main || group.trigger === "always";
    const others = agentsOf(group).slice(1);
    const called = others.map((id) => `@${services.agentNameOf(group, id)}`).join(", ");
    const addressed = hearsAll
      ? `Anything else you write here is for ${others.length === 0 ? "me" : agentName}.`
      : `For anything else, address ${others.length === 0 ? "me" : agentName} with @${agentName}.`;
    const more =
      others.length === 0
        ? []
        : [`${called} ${others.length === 1 ? "answers" : "answer"} here, too: mention one or several.`];
    return { text: [...lines, addressed, ...more].join("\n") };
  },
};

function describeSlip(word: string, commands: GivenCommand["commands"]): string {
  const names = commands.map(({ name }) => name);
  if (names.includes(word.toLowerCase())) {
    return `/${word.toLowerCase()} was not carried out, because it must stand alone: write nothing before or after it.`;
  }
  const meant = nearest(word, names);
  const hint = meant === undefined ? "" : ` Did you mean /${meant}?`;
  return `Unknown command ${quotedName(word)}.${hint} Use /help to list all commands.`;
}
