import type { Command } from "commander";

import type { CommandContext } from "./context.ts";
import { addLeaf } from "./context.ts";
import { createChecks } from "./doctor/checks.ts";

export function addDoctorCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "doctor", "check the installation; exit 1 if something is wrong")
    .option("--deep", "also attack a throwaway host with the quick part of the red-team suite")
    .action(async (options: { deep?: boolean }, command: Command) => {
      const output = context.outputOf(command);
      for await (const { check, ok, detail, fix } of createChecks(context, options.deep === true)) {
        if (!ok) context.exitCode = 1;
        if (output.json) output.object({ check, ok, detail, fix: fix ?? null });
        output.line(`${ok ? "ok  " : "BAD "} ${check}: ${detail}`, ok ? "good" : "bad");
        if (fix !== undefined) output.line(`       fix: ${fix}`);
      }
    });
}
