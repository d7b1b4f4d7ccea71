import type { Command } from "commander";

import { openEngine } from "../../../sandbox/engine/catalog.ts";
import { readVersion } from "../../../lib/process/version.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";

/** The engine may hang; nobody waits for its version longer than this. */
const engineTimeoutMs = 2_000;

export function addVersionCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "version", "versions of crabpot, Node.js and the engine").action(
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
    await using engine = await openEngine({ env: environment.variables, homeFolder: environment.userHome });
    const { kind, version } = await engine.facts(AbortSignal.timeout(engineTimeoutMs));
    return `${kind} ${version}`;
  } catch {
    return null;
  }
}
