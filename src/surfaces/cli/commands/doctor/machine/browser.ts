import { resolveGroup } from "../../../../../config/resolve-group.ts";
import type { Config } from "../../../../../config/schema/config.ts";
import type { CommandContext } from "../../../context.ts";
import { type CheckResult, good, warning } from "../check.ts";

/** Minimum memory for a browser with a page, the agent and its commands. */
const leastMemoryMb = 768;
const leastProcesses = 200;

/** Whether groups with a browser have what one needs. */
export async function checkBrowsers(context: CommandContext): Promise<CheckResult[]> {
  const { config } = await context.loadConfig();
  return judgeBrowsers(config);
}

/** Says nothing where no group has one. */
export function judgeBrowsers(config: Config): CheckResult[] {
  const names = Object.keys(config.groups).filter((name) => resolveGroup(config, { name }).image.browser === true);
  if (names.length === 0) return [];
  const faults = [...tooLittle(config, names), ...withoutWayOut(config, names)];
  return faults.length > 0 ? faults : [good("browser", `${names.join(", ")}: a browser with enough memory.`)];
}

function tooLittle({ sandbox: { memoryMb, pids } }: Pick<Config, "sandbox">, names: readonly string[]): CheckResult[] {
  const short = [
    ...(memoryMb < leastMemoryMb ? [`sandbox.memoryMb is ${memoryMb}, and at least ${leastMemoryMb} are needed`] : []),
    ...(pids < leastProcesses ? [`sandbox.pids is ${pids}, and at least ${leastProcesses} are needed`] : []),
  ];
  if (short.length === 0) return [];
  const detail = `The browser of ${names.join(", ")} will crash on larger pages: ${short.join("; ")}.`;
  return [warning("browser", detail, "Raise them in config.yaml; the defaults are 1024 and 256.")];
}

function withoutWayOut(config: Config, names: readonly string[]): CheckResult[] {
  const closed = names.filter((name) => resolveGroup(config, { name }).network.allow.length === 0);
  if (closed.length === 0) return [];
  const detail = `${closed.join(", ")}: a browser without any allowed host.`;
  return [warning("browser", detail, "Add hosts to network.allow of the group: docs/browser.md.")];
}
