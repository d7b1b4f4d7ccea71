import { networkOf } from "../config/groups.ts";
import { EgressProxies } from "../sandbox/egress/egress-proxies.ts";
import type { EgressOverrides } from "../sandbox/egress/egress-proxies.ts";
import type { AppContext } from "./context.ts";

/** The groups' ways out. */
export function createEgress(context: AppContext, overrides: EgressOverrides | undefined): EgressProxies {
  const { config, home, logger, clock, publish } = context;
  return new EgressProxies({
    folder: home.paths.egress,
    keyFolder: home.paths.keys,
    networkOf: (group) => networkOf(config, group),
    publish,
    logger,
    get nameservers() {
      return config.sandbox.nameservers;
    },
    now: () => clock.now(),
    overrides,
  });
}
