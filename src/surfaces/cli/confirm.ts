import type { CommandContext } from "./context.ts";
import type { Output } from "./output.ts";

/** Asks at a terminal. Without one only `--yes` is a yes: otherwise nothing is done, and the command ends with 3. */
export async function isConfirmed(context: CommandContext, output: Output, yes: boolean): Promise<boolean> {
  if (yes) return true;
  if (isAtTerminal(context)) return asks(context);
  output.line("Nothing was changed. To proceed, run the same command with --yes.");
  context.exitCode = 3;
  return false;
}

/** Asks at a terminal; a program that runs the command is not asked. */
export async function isConfirmedAtTerminal(context: CommandContext, output: Output): Promise<boolean> {
  return output.json || !isAtTerminal(context) || asks(context);
}

function isAtTerminal({ streams: { stdin, stdout } }: CommandContext): boolean {
  return stdin.isTTY === true && stdout.isTTY === true;
}

async function asks(context: CommandContext): Promise<boolean> {
  const { createInterface } = await import("node:readline/promises");
  const { stdin, stdout } = context.streams;
  const lines = createInterface({ input: stdin, output: stdout });
  try {
    const isYes = /^y(?:es)?$/i.test((await lines.question("Do it? [y/N] ")).trim());
    if (!isYes) context.exitCode = 1;
    return isYes;
  } finally {
    lines.close();
  }
}
