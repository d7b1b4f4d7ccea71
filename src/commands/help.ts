import { nearest } from "../lib/text/nearest.ts";
import { quotedName } from "../lib/text/plain-words.ts";
import type { ChatCommand, GivenCommand } from "./command.ts";

/** Lists the commands; with a word that resembles one, says which was probably meant. */
export const help: ChatCommand = {
  name: "help",
  help: "this list",
  needs: "guest",
  run: async ({ group, pending: { argument }, commands, agentName }) => {
    if (argument !== undefined) return { text: describeSlip(argument, commands) };
    const lines = commands.map(({ name, takes, help: does }) =>
      takes === undefined ? `/${name}: ${does}` : `/${name} ${takes}: ${does}`,
    );
    const addressed =
      group.main || group.trigger === "always"
        ? "Whatever else you write here is for me."
        : `Whatever else you want from me, begin with @${agentName}.`;
    return { text: [...lines, addressed].join("\n") };
  },
};

function describeSlip(word: string, commands: GivenCommand["commands"]): string {
  const names = commands.map(({ name }) => name);
  if (names.includes(word.toLowerCase())) {
    return `/${word.toLowerCase()} was not carried out, because it has to stand alone: write nothing before or behind it.`;
  }
  const meant = nearest(word, names);
  const hint = meant === undefined ? "" : ` Did you mean /${meant}?`;
  return `There is no command ${quotedName(word)}.${hint} /help lists all of them.`;
}
