import { defaultTotalUsd } from "../../domain/turns/usage.ts";
import { type Adapters, providersOfEveryHome } from "../adapters.ts";
import type { EnvironmentVariables } from "../environment.ts";
import type { ConfigFault } from "../faults.ts";
import type { ConfigInput } from "../schema/config.ts";

const limitSaid = `All groups together may spend ${defaultTotalUsd} US dollars a day. For another limit run \`crabpot config init\` and write into config.yaml: budgets: { total: { usdPerDay: 20 } }`;

/**
 * The configuration of a home that has no `config.yaml`, and what to tell the operator about it. With keys of several
 * vendors, the first one is used and the others are left alone.
 */
export function configFromEnvironment(
  variables: EnvironmentVariables,
  adapters: Adapters,
): {
  readonly value: ConfigInput;
  readonly faults: readonly ConfigFault[];
  readonly announcements: readonly string[];
} {
  const usable = adapters.providers.flatMap(({ kind, environment }) => (environment ? [{ kind, ...environment }] : []));
  const vendor = usable.find(({ keyVariable }) => variables[keyVariable]);
  if (vendor === undefined) {
    const keys = usable.map(({ keyVariable }) => keyVariable).join(" or ");
    const [builtIn] = providersOfEveryHome(adapters);
    const said = `No config.yaml and no ${keys}: the built-in ${builtIn?.model} model answers. It needs no key and has no intelligence.`;
    return { value: {}, faults: [], announcements: [said] };
  }
  const { kind, model, keyVariable } = vendor;
  const taken = Object.entries(vendor.settings).filter(([, variable]) => variables[variable]);
  // Filled in by the same replacement that config.yaml goes through, as if it had been written there.
  const settings = Object.fromEntries(taken.map(([setting, variable]) => [setting, `\${${variable}}`]));
  const others = taken.map(([, variable]) => variable).filter((variable) => variable !== keyVariable);
  const at = others.length > 0 ? ` at ${others.join(" and ")}` : "";
  return {
    value: { models: { routes: { main: [`${kind}/${model}`] }, providers: { [kind]: { kind, ...settings } } } },
    faults: [],
    announcements: [`No config.yaml, but ${keyVariable} is set: ${kind}/${model}${at} answers.`, limitSaid],
  };
}
