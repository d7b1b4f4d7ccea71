import { providerOf } from "../../../../../config/checks/cross-checks.ts";
import { describeFault } from "../../../../../config/loading/load.ts";
import { referencesOf } from "../../../../../models/routes/routes.ts";
import { openProvider } from "../../../../../models/catalog.ts";
import type { CommandContext } from "../../../context.ts";
import type { CheckResult } from "../check.ts";
import { bad, good, warning } from "../check.ts";

/** Long enough for a slow line, short enough to wait for. */
const providerTimeoutMs = 15_000;
const shortToken = 16;

export async function checkConfiguration(context: CommandContext): Promise<CheckResult[]> {
  const file = context.paths.config;
  const check = await context.checkConfig();
  if (!check.ok) return check.faults.map((fault) => bad("config", describeFault(fault), fault.fix ?? `Edit ${file}.`));
  const { announcements, warnings, fromFile, config } = check.loaded;
  const results = [good("config", [fromFile ? `${file} is valid.` : "", ...announcements].join(" ").trim())];
  results.push(...warnings.map((fault) => warning("config", describeFault(fault), fault.fix)));
  if (config.gateway.token !== undefined && config.gateway.token.length < shortToken) {
    const detail = `gateway.token has only ${config.gateway.token.length} characters.`;
    results.push(warning("config", detail, "Set it in config.yaml to the output of: openssl rand -hex 24"));
  }
  for (const [name, { secret }] of Object.entries(config.hooks)) {
    if (secret.length >= shortToken) continue;
    const detail = `hooks.${name}.secret has only ${secret.length} characters.`;
    results.push(
      warning("config", detail, "Set it, here and in the other program, to the output of: openssl rand -hex 32"),
    );
  }
  for (const channel of check.loaded.adapters.channels) {
    if (!Object.hasOwn(config.channels, channel.name)) continue;
    const remarks = channel.remarks?.(config.channels[channel.name]) ?? [];
    results.push(...remarks.map((remark) => warning("config", remark)));
  }
  return results;
}

/** Checks that each provider in a route is reachable and accepts its key. Costs no tokens. */
export async function checkProviders(context: CommandContext): Promise<CheckResult[]> {
  const { config, adapters, fromFile } = await context.loadConfig();
  const { routes } = config.models;
  const plugins = await context.plugins();
  plugins?.configure(config.plugins);
  const used = new Set(Object.keys(routes).flatMap((route) => referencesOf(routes, route).map(providerOf)));
  const results: CheckResult[] = [];
  for (const [name, settings] of Object.entries(config.models.providers)) {
    if (!used.has(name)) continue;
    if (plugins?.isolation === "container" && plugins.providers.some(({ kind }) => kind === settings.kind)) {
      results.push(good("provider", `${name}: is a plugin's, which only a running host starts.`));
      continue;
    }
    await using provider = await openProvider(name, settings, { definitions: adapters.providers });
    const { ok, detail } = await provider.check(AbortSignal.timeout(providerTimeoutMs));
    const environment = adapters.providers.find(({ kind }) => kind === settings.kind)?.environment;
    const set = Object.values(environment?.settings ?? {}).filter(
      (variable) => context.environment.variables[variable],
    );
    const where = fromFile ? `models.providers.${name} in ${context.paths.config}` : set.join(" and ");
    const fix = `Correct ${where}, unless the provider is down.`;
    results.push(ok ? good("provider", `${name}: ${detail}`) : bad("provider", `${name}: ${detail}`, fix));
  }
  return results;
}
