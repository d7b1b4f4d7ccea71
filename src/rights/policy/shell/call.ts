import type { Argument } from "./arguments.ts";
import type { Findings } from "./findings.ts";
import type { CommandFacts } from "./known-commands.ts";
import type { Folders } from "./places.ts";

/** Context for judging a command of a line. */
export interface LineContext {
  readonly findings: Findings;
  readonly folders: Folders;
  /** Source of its input, if different from the line's. */
  readonly input: string | undefined;
  /** Its input, where that stands in the line. */
  readonly heredoc: string | undefined;
  /** Judges another command that this one runs. */
  run(words: readonly Argument[]): void;
  /** Judges text that this one gives to a shell. */
  runText(text: string): void;
  /** From here on relative paths may lie there. */
  enter(folder: string): void;
  /** A variable is set. */
  assign(variable: string, piece: string): void;
}

/** A known command with its arguments. */
export interface KnownCall {
  readonly name: string;
  readonly facts: CommandFacts;
  readonly args: readonly Argument[];
  /** The command as it stands in the line. */
  readonly piece: string;
}
