import type { Command } from "commander";

import { AppError } from "../../../../lib/app-error.ts";
import { sleep } from "../../../../lib/time/sleep.ts";
import { findHomeHolder } from "../../../../stores/catalog.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { stop } from "../../../../operations/host/operations.ts";

const lookAgainMs = 100;
/** Turns get 10 s, what has to be sent 5 s, the engine 20 s. */
const limitMs = 60_000;

export function addStopCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "stop", "stop the running host cleanly, and wait until it has ended").action(
    async (_options: object, command: Command) => {
      const output = context.outputOf(command);
      const { pid, runningTurns } = await context.call(stop, {});
      const turns = runningTurns === 1 ? "1 turn is still running" : `${runningTurns} turns are still running`;
      output.line(`The host (pid ${pid}) is stopping${runningTurns === 0 ? "" : `; ${turns}`} …`);
      await untilEnded(context.paths.root, pid);
      if (output.json) output.object({ pid, state: "stopped" });
      output.line("The host has ended.", "good");
    },
  );
}

/** Its home is free then, so another one can start. */
async function untilEnded(home: string, pid: number): Promise<void> {
  const signal = AbortSignal.timeout(limitMs);
  while (!signal.aborted) {
    const holder = await findHomeHolder(home);
    // A service may have started the next one already.
    if (!holder || (holder.pid !== undefined && holder.pid !== pid)) return;
    await sleep(lookAgainMs, signal);
  }
  throw new AppError("host_running", `The host (pid ${pid}) has not ended within ${limitMs / 1000} s.`, {
    fix: `kill ${pid}, which ends it at once`,
  });
}
