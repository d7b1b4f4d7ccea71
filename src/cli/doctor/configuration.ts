import { lstat } from "node:fs/promises";

import { configuredGroups } from "../../config/groups.ts";
import { providerOf } from "../../config/cross-checks.ts";
import { checkConfig, describeFault, describeWarning, loadConfig } from "../../config/load.ts";
import { readAllowlist } from "../../sandbox/mounts/allowlist.ts";
import { openProvider } from "../../models/catalog.ts";
import type { CommandContext } from "../context.ts";
import { judgeNow } from "../mounts.ts";
import type { CheckResult } from "./check.ts";
import { bad, good } from "./check.ts";

/** Long enough for a slow line, short enough to wait for. */
const providerTimeoutMs = 15_000;
const shortToken = 16;

export async function checkConfiguration(context: CommandContext): Promise<CheckResult[]> {
  const file = context.paths.config;
  const check = await checkConfig(file, context.environment.variables);
  if (!check.ok) return check.faults.map((fault) => bad("config", describeFault(fault), fault.fix ?? `Edit ${file}.`));
  const { announcements, warnings, fromFile, config } = check.loaded;
  const results = [good("config", [fromFile ? `${file} is valid.` : "", ...announcements].join(" ").trim())];
  results.push(...warnings.map((warning) => good("config", describeWarning(warning))));
  if (config.gateway.token !== undefined && config.gateway.token.length < shortToken) {
    results.push(
      good("config", `gateway.token has only ${config.gateway.token.length} characters; try: openssl rand -hex 24`),
    );
  }
  for (const channel of check.loaded.adapters.channels) {
    if (!Object.hasOwn(config.channels, channel.name)) continue;
    const remarks = channel.remarks?.(config.channels[channel.name]) ?? [];
    results.push(...remarks.map((remark) => good("config", remark)));
  }
  return results;
}

/** The allowlist, and what each configured group would get by it. */
export async function checkMounts(context: CommandContext): Promise<CheckResult[]> {
  const { config } = await loadConfig(context.paths.config, context.environment.variables);
  const results: CheckResult[] = [];
  const groups = configuredGroups(config);
  for (const group of groups) {
    for (const { source, verdict, reason } of await judgeNow(context, group, groups)) {
      const detail = `group ${group.name}, ${source}: ${verdict}; ${reason}`;
      const fix = `Allow it in ${context.paths.mounts}, or remove it from the group in config.yaml.`;
      results.push(verdict === "denied" ? bad("mounts", detail, fix) : good("mounts", detail));
    }
  }
  if (results.length > 0) return results;
  if ((await lstat(context.paths.mounts).catch(() => undefined)) === undefined) {
    return [good("mounts", "No group asks for mounts, and without mounts.json none is allowed.")];
  }
  const allowlist = await readAllowlist({
    path: context.paths.mounts,
    homeFolder: context.environment.userHome,
    hostUid: process.geteuid?.() ?? 0,
  });
  if (allowlist.state === "unusable") return [bad("mounts", allowlist.reason, `Edit ${context.paths.mounts}.`)];
  return [good("mounts", `${context.paths.mounts} is valid; no group asks for mounts.`)];
}

/** Every vendor that a route uses: is it there, does it take the key? Costs no tokens. */
export async function checkProviders(context: CommandContext): Promise<CheckResult[]> {
  const { config, adapters } = await loadConfig(context.paths.config, context.environment.variables);
  const used = new Set(Object.values(config.models.routes).flatMap((route) => route.map(providerOf)));
  const results: CheckResult[] = [];
  for (const [name, settings] of Object.entries(config.models.providers)) {
    if (!used.has(name)) continue;
    await using provider = await openProvider(name, settings, { definitions: adapters.providers });
    const { ok, detail } = await provider.check(AbortSignal.timeout(providerTimeoutMs));
    const fix = `Look at models.providers.${name} in ${context.paths.config}.`;
    results.push(ok ? good("provider", `${name}: ${detail}`) : bad("provider", `${name}: ${detail}`, fix));
  }
  return results;
}
