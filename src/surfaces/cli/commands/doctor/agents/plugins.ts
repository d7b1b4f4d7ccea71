import { ownCommand } from "../../../../../lib/process/own-command.ts";
import type { Plugins } from "../../../../../plugins/plugins.ts";
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
    if (state === "needs settings" || state === "waits") return [warning("plugins", `${name}: ${reason}.`)];
    return [bad("plugins", `${name}: ${reason}.`, `Install it again: ${ownCommand(`plugins add ${entry.from}`)}`)];
  });
  const found = [...results, ...checkIsolation(plugins)];
  if (found.length > 0) return found;
  return [
    good(
      "plugins",
      listed.length === 0 ? "None are installed." : `${listed.length}, all unchanged since installation.`,
    ),
  ];
}

/** In containers they need the engine, which has a check of its own. */
function checkIsolation(plugins: Plugins | undefined): CheckResult[] {
  if (plugins?.isolation !== "process" || plugins.list().length === 0) return [];
  const detail = "They run as processes of this user, which Node's permissions keep from files and programs alone.";
  return [warning("plugins", detail, "Remove plugins.isolation from config.yaml, unless you write one yourself.")];
}
