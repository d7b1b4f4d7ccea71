import type { Command } from "commander";

import { readEngineVersion } from "../../../../sandbox/engine/catalog.ts";
import { readVersion } from "../../../../lib/process/version.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";

export function addVersionCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "version", "show the versions of crabpot, Node.js and the engine").action(
    async (_options: object, command: Command) => {
      const crabpot = await readVersion(context.environment.checkout);
      const engine = await engineVersion(context);
      const node = process.versions.node;
      context.outputOf(command).facts({ crabpot, node, engine }, [
        ["crabpot", crabpot],
        ["node", node],
        ["engine", engine ?? "not reachable"],
      ]);
    },
  );
}

async function engineVersion({ environment }: CommandContext): Promise<string | null> {
  try {
    return await readEngineVersion({ env: environment.variables, homeFolder: environment.userHome });
  } catch {
    return null;
  }
}
