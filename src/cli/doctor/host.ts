import { access, constants, lstat } from "node:fs/promises";
import { join } from "node:path";

import { configuredGroups } from "../../config/groups.ts";
import { describeWarning, loadConfig } from "../../config/load.ts";
import { AppError } from "../../lib/app-error.ts";
import { renamedGroups } from "../config-check.ts";
import type { CommandContext } from "../context.ts";
import type { CheckResult } from "./check.ts";
import { bad, good } from "./check.ts";

/** Real folders, not links to somewhere else, with instructions that can be read. */
export async function checkGroupFolders(context: CommandContext): Promise<CheckResult[]> {
  const loaded = await loadConfig(context.paths.config, context.environment.variables);
  const { config } = loaded;
  const { groups, global } = context.paths;
  const renamed = await renamedGroups(context, loaded);
  const results: CheckResult[] = renamed.map((warning) => good("groups", describeWarning(warning)));
  for (const folder of [global, ...configuredGroups(config).map((group) => join(groups, group.name))]) {
    const found = await lstat(folder).catch(() => undefined);
    if (found === undefined) continue;
    if (!found.isDirectory()) {
      results.push(bad("groups", `${folder} is not a real folder.`, `Move it away: mv ${folder} ${folder}.old`));
    } else if (!(await canRead(folder))) {
      results.push(bad("groups", `${folder} cannot be read by the host.`, `chmod u+rx ${folder}`));
    }
  }
  return results.length > 0 ? results : [good("groups", `The folders in ${groups} are in order.`)];
}

async function canRead(folder: string): Promise<boolean> {
  return access(folder, constants.R_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Whether a host runs and how it sees itself. None is no fault: the doctor is for before the first start, too. */
export async function checkHost(context: CommandContext): Promise<CheckResult[]> {
  try {
    const status = await context.host.status();
    const results = [good("host", `A host is running: pid ${status.pid}, version ${status.version}.`)];
    if (!status.intake.open) {
      results.push(
        bad("host", `It accepts no messages: ${status.intake.reason ?? "no reason given"}.`, "crabpot logs"),
      );
    }
    if (!status.engine.ok) results.push(bad("host", `It has no container engine: ${status.engine.detail}`));
    for (const { name, state, detail } of status.channels) {
      if (state !== "closed") continue;
      results.push(
        bad("host", `Its channel ${name} is closed: ${detail ?? "no reason given"}.`, `crabpot channels login ${name}`),
      );
    }
    return results;
  } catch (error) {
    if (error instanceof AppError && error.code === "no_host") return [good("host", error.message)];
    throw error;
  }
}
