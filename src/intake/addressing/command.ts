import { nearest } from "../../lib/text/nearest.ts";
import { withoutLeadingMention } from "./mention.ts";

/** Form of a command: its name, and whether an argument follows. */
export interface CommandForm {
  readonly name: string;
  /** Form of the argument, such as `CODE [name]`; absent: none. */
  readonly takes?: string | undefined;
  /** True when the name of one of several agents may follow. */
  readonly perAgent?: boolean | undefined;
}

/** A command as it was said. */
export interface SaidCommand {
  readonly command: string;
  /** Argument of the command; for `help`, a word that resembles a command. */
  readonly argument?: string | undefined;
}

/** A command is one line; longer text is not. */
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
