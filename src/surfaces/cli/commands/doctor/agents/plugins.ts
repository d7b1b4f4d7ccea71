import { AppError, toError } from "../../../../../lib/app-error.ts";
import { ownCommand } from "../../../../../lib/process/own-command.ts";
import type { Plugins } from "../../../../../plugins/plugins.ts";
import { openEngine } from "../../../../../sandbox/engine/catalog.ts";
import type { CommandContext } from "../../../context.ts";
import { bad, type CheckResult, good, warning } from "../check.ts";

const engineTimeoutMs = 10_000;

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
  const found = [...results, ...(await checkIsolation(context, plugins))];
  if (found.length > 0) return found;
  return [
    good(
      "plugins",
      listed.length === 0 ? "None are installed." : `${listed.length}, all unchanged since installation.`,
    ),
  ];
}

/** Whether there is something to run them in, and whether that is a container. */
async function checkIsolation({ environment }: CommandContext, plugins: Plugins | undefined): Promise<CheckResult[]> {
  if (plugins === undefined || plugins.list().length === 0) return [];
  if (plugins.isolation === "process") {
    const detail = "They run as processes of this user, which Node's permissions keep from files and programs alone.";
    return [warning("plugins", detail, "Remove plugins.isolation from config.yaml, unless you write one yourself.")];
  }
  try {
    await using engine = await openEngine({ env: environment.variables, homeFolder: environment.userHome });
    await engine.facts(AbortSignal.timeout(engineTimeoutMs));
    return [];
  } catch (error) {
    const fix = error instanceof AppError ? error.fix : undefined;
    return [bad("plugins", `None is started: ${toError(error).message}`, fix)];
  }
}
