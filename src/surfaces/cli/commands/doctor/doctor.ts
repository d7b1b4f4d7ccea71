import type { Command } from "commander";

import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import type { CheckLevel } from "./check.ts";
import { createChecks } from "./checks.ts";
import type { Tone } from "../../output.ts";

const tones = { ok: "good", warning: "bold", failure: "bad" } as const satisfies Record<CheckLevel, Tone>;
const labelWidth = "warning  ".length;

export function addDoctorCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "doctor", "check the installation; exit 1 if something is wrong")
    .option("--deep", "also run the quick red-team attacks on a throwaway host")
    .action(async (options: { deep?: boolean }, command: Command) => {
      const output = context.outputOf(command);
      const counts = { ok: 0, warning: 0, failure: 0 };
      for await (const { check, level, detail, fix } of createChecks(context, options.deep === true)) {
        counts[level] += 1;
        if (output.json) output.object({ check, ok: level !== "failure", detail, fix: fix ?? null, level });
        output.line(`${level.padEnd(labelWidth)}${check}: ${detail}`, tones[level]);
        if (fix !== undefined) output.line(`${" ".repeat(labelWidth)}fix: ${fix}`);
      }
      if (counts.failure > 0) context.exitCode = 1;
      output.line(summarize(counts), counts.failure > 0 ? "bad" : "good");
    });
}

/** `12 ok, 1 warning, 2 failures` */
function summarize(counts: Readonly<Record<CheckLevel, number>>): string {
  return `${counts.ok} ok, ${plural(counts.warning, "warning")}, ${plural(counts.failure, "failure")}`;
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
