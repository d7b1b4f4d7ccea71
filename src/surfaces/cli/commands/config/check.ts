import { lstat } from "node:fs/promises";

import type { ConfigFault } from "../../../../config/faults.ts";
import { configuredGroups } from "../../../../config/configured/groups.ts";
import { describeFault, type LoadedConfig } from "../../../../config/loading/load.ts";
import { findRenamedGroups } from "../../../../config/checks/renamed-groups.ts";
import { openStoreReader } from "../../../../stores/catalog.ts";
import type { CommandContext } from "../../context.ts";
import type { Output } from "../../output.ts";

/** Says what is wrong with config.yaml, or what to think about in one that can be used. */
export async function tellConfigCheck(context: CommandContext, output: Output): Promise<void> {
  const file = context.paths.config;
  const check = await context.checkConfig();
  if (!check.ok) {
    context.exitCode = 1;
    output.line(`${file} is not valid:`, "bad");
    tellFaults(output, check.faults, { ok: false, level: "error", file });
    return;
  }
  const { announcements, fromFile } = check.loaded;
  const warnings = [...check.loaded.warnings, ...(await renamedGroups(context, check.loaded))];
  if (output.json) output.object({ ok: true, file, fromFile, announcements });
  const count = warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`;
  const some = warnings.length === 0 ? "." : `, with ${count}:`;
  output.line(fromFile ? `${file} is valid${some}` : `${file} does not exist; the defaults apply.`, "good");
  tellFaults(output, warnings, { ok: true, level: "warning", file });
  for (const announcement of announcements) output.line(announcement);
}

/** Finds renamed groups by the store's folder owners; none before the first start. */
export async function renamedGroups({ paths }: CommandContext, { config }: LoadedConfig): Promise<ConfigFault[]> {
  if ((await lstat(paths.database).catch(() => undefined)) === undefined) return [];
  await using reader = await openStoreReader({ path: paths.database });
  const folders = await reader.groups.folders();
  const found = await findRenamedGroups({ configured: configuredGroups(config), folders, place: paths.groups });
  return found.map(({ warning }) => warning);
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
