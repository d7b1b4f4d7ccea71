import type { Command } from "commander";

import type { CommandContext } from "../context.ts";
import { addLeaf, wantsJson } from "../context.ts";

export function addStartCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "start", "run the host until it is told to stop")
    .option("--terminal", "talk to it here as well; without a terminal, one message per line until the input ends")
    .action(async (options: { terminal?: boolean }, command: Command) => {
      const exitCode = await context.hostFunctions.run({
        console: options.terminal === true,
        json: wantsJson(command),
        env: context.environment.variables,
      });
      context.exitCode = exitCode;
    });
}
