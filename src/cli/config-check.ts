import { checkConfig, describeFault } from "../config/load.ts";
import type { ConfigFault } from "../config/faults.ts";
import type { CommandContext } from "./context.ts";
import type { Output } from "./output.ts";

/** Says what is wrong with config.yaml, or what to think about in one that can be used. */
export async function tellConfigCheck(context: CommandContext, output: Output): Promise<void> {
  const file = context.paths.config;
  const check = await checkConfig(file, context.environment.variables);
  if (!check.ok) {
    context.exitCode = 1;
    output.line(`${file} cannot be used:`, "bad");
    tellFaults(output, check.faults, { ok: false, level: "error", file });
    return;
  }
  const { announcements, warnings, fromFile } = check.loaded;
  if (output.json) output.object({ ok: true, file, fromFile, announcements });
  const count = warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`;
  const some = warnings.length === 0 ? "." : `, with ${count}:`;
  output.line(fromFile ? `${file} is valid${some}` : `${file} does not exist; the defaults apply.`, "good");
  tellFaults(output, warnings, { ok: true, level: "warning", file });
  for (const announcement of announcements) output.line(announcement);
}

function tellFaults(
  output: Output,
  faults: readonly ConfigFault[],
  common: { readonly ok: boolean; readonly level: "error" | "warning"; readonly file: string },
): void {
  for (const fault of faults) {
    if (output.json) output.object({ ...common, ...fault });
    output.line(`  ${common.level}: ${describeFault(fault)}`);
    if (fault.fix !== undefined) output.line(`    fix: ${fault.fix}`);
  }
}
