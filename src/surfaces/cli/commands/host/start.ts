import { setFlagsFromString } from "node:v8";

import type { Command } from "commander";

import type { CommandContext } from "../../context.ts";
import { addLeaf, wantsJson } from "../../context.ts";

/**
 * Keeps garbage small: with much memory, V8 lets it grow to several times what is alive before it collects it. On the
 * command line this flag would make Node compile its own modules at every start: 15 ms of processor time.
 */
const heapFlag = "--heap-growing-percent=50";

export function addStartCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "start", "run the host until it is stopped")
    .option("--terminal", "chat in this terminal; without a terminal, answer one message per line until the input ends")
    .action(async (options: { terminal?: boolean }, command: Command) => {
      setFlagsFromString(heapFlag);
      const exitCode = await context.hostFunctions.run({
        console: options.terminal === true,
        json: wantsJson(command),
        env: context.environment.variables,
      });
      context.exitCode = exitCode;
    });
}
