import { ownCommand } from "../../../../../lib/process/own-command.ts";
import type { CommandContext } from "../../../context.ts";
import { bad, type CheckResult, good, warning } from "../check.ts";

/** Whether each plugin is what was installed, and has what it needs. */
export async function checkPlugins(context: CommandContext): Promise<CheckResult[]> {
  const plugins = await context.plugins();
  const { config } = await context.loadConfig();
  await context.configurePlugins(config);
  const listed = plugins?.list() ?? [];
  const results = listed.flatMap(({ name, state, reason = "", entry }) => {
    if (state === "ok") return [];
    if (state === "needs settings") return [warning("plugins", `${name}: ${reason}.`)];
    return [bad("plugins", `${name}: ${reason}.`, `Install it again: ${ownCommand(`plugins add ${entry.from}`)}`)];
  });
  if (results.length > 0) return results;
  return [
    good(
      "plugins",
      listed.length === 0 ? "None are installed." : `${listed.length}, all unchanged since installation.`,
    ),
  ];
}
