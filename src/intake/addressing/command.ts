import { nearest } from "../../lib/text/nearest.ts";
import { withoutLeadingMention } from "./mention.ts";

/** How a command is written: its name behind a slash, and whether words follow. */
export interface CommandForm {
  readonly name: string;
  /** What stands behind it, such as `CODE [name]`; absent: it stands alone. */
  readonly takes?: string | undefined;
  /** It may be for one of several agents: the name of that one stands behind it. */
  readonly perAgent?: boolean | undefined;
}

/** A command as it was said. */
export interface SaidCommand {
  readonly command: string;
  /** What stood behind it; of `help`, a word that resembles a command. */
  readonly argument?: string | undefined;
}

/** One line only: what goes on for longer is no command. */
const pattern = /^\/([a-z]{1,32})([.!?]*)(?:[ \t]+(.*))?$/i;

/**
 * The command of this list that a message consists of, optionally behind a mention of the agent. One that resembles a
 * command without being it is `help` with the word that was written. Undefined when it says anything else.
 */
export function parseCommand(
  text: string,
  assistantName: string,
  commands: readonly CommandForm[],
): SaidCommand | undefined {
  const said = pattern.exec(withoutLeadingMention(text, assistantName));
  if (!said) return undefined;
  const [, word = "", marks = "", rest = ""] = said;
  const meant = commands.find(({ name }) => name === word.toLowerCase());
  if (meant?.takes !== undefined && marks === "") return { command: meant.name, argument: rest.trim() };
  if (meant && marks === "" && rest === "") return { command: meant.name };
  const resembled = nearest(
    word,
    commands.map(({ name }) => name),
  );
  return resembled === undefined ? undefined : { command: "help", argument: word };
}
