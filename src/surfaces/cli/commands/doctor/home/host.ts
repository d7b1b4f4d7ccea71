import { access, constants, lstat } from "node:fs/promises";
import { join } from "node:path";

import { configuredGroups } from "../../../../../config/configured/groups.ts";
import { describeFault } from "../../../../../config/loading/load.ts";
import { AppError } from "../../../../../lib/app-error.ts";
import { shellQuoted } from "../../../../../lib/files/paths.ts";
import type { ChannelView } from "../../../../../operations/channels/operations.ts";
import { renamedGroups } from "../../config/check.ts";
import type { CommandContext } from "../../../context.ts";
import type { CheckResult } from "../check.ts";
import { bad, good, warning } from "../check.ts";
import { ownCommand } from "../../../../../lib/process/own-command.ts";
import { type HostStatus, readStatus } from "../../../../../operations/host/operations.ts";

/** Real folders, not links to somewhere else, with instructions that can be read. */
export async function checkGroupFolders(context: CommandContext): Promise<CheckResult[]> {
  const loaded = await context.loadConfig();
  const { config } = loaded;
  const { groups, global } = context.paths;
  const renamed = await renamedGroups(context, loaded);
  const results: CheckResult[] = renamed.map((fault) => warning("groups", describeFault(fault), fault.fix));
  for (const folder of [global, ...configuredGroups(config).map((group) => join(groups, group.name))]) {
    const found = await lstat(folder).catch(() => undefined);
    if (found === undefined) continue;
    if (!found.isDirectory()) {
      const fix = `mv ${shellQuoted(folder)} ${shellQuoted(`${folder}.old`)}`;
      results.push(bad("groups", `${folder} is not a real folder.`, fix));
    } else if (!(await canRead(folder))) {
      results.push(bad("groups", `The host cannot read ${folder}.`, `chmod u+rx ${shellQuoted(folder)}`));
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
    const status = await context.call(readStatus, {});
    const results = [good("host", `A host is running: pid ${status.pid}, version ${status.version}.`)];
    if (!status.intake.open) results.push(judgeIntake(status.intake));
    if (!status.engine.ok)
      results.push(bad("host", `It has no container engine: ${status.engine.detail}`, "npm run setup"));
    if (status.tasks.paused > 0) {
      const fix = `See why with ${ownCommand("tasks list")}; resume one with ${ownCommand("tasks resume ID")}.`;
      results.push(
        warning("host", `It has ${status.tasks.paused} paused ${status.tasks.paused === 1 ? "task" : "tasks"}.`, fix),
      );
    }
    return [...results, ...status.channels.flatMap(judgeChannel)];
  } catch (error) {
    if (error instanceof AppError && error.code === "no_host") return [good("host", error.message)];
    throw error;
  }
}

function judgeIntake({ code, reason = "no reason given" }: HostStatus["intake"]): CheckResult {
  const detail = `It accepts no messages: ${reason}.`;
  if (code === "starting" || code === "stopping") return warning("host", detail, "Wait, then check again.");
  const fix = code === "disk-full" ? "Free some space on its disk." : `See why with ${ownCommand("logs")}, and fix it.`;
  return bad("host", detail, `${fix} It retries automatically.`);
}

function judgeChannel({ name, state, detail }: ChannelView): CheckResult[] {
  const what = `Its channel ${name} is ${state}${detail === undefined ? "" : `: ${detail}`}.`;
  switch (state) {
    case "logged-out":
      return [bad("host", what, ownCommand(`channels login ${name}`))];
    case "closed":
      return [bad("host", what, "Fix the reported problem, then restart the host.")];
    case "conflict":
      return [bad("host", what, "Close the other program that uses the account.")];
    case "degraded":
      return [warning("host", what)];
    case "connecting":
    case "open":
      return [];
  }
  return [];
}
