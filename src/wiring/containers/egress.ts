import { networkOf } from "../../config/groups.ts";
import { EgressProxies } from "../../sandbox/egress/egress-proxies.ts";
import type { EgressOverrides } from "../../sandbox/egress/egress-proxies.ts";
import type { AppContext } from "../context.ts";

/** The groups' ways out. */
export function createEgress(context: AppContext, overrides: EgressOverrides | undefined): EgressProxies {
  const { config, home, logger, clock, store, publish } = context;
  return new EgressProxies({
    folder: home.paths.egress,
    keyFolder: home.paths.keys,
    networkOf: (group) => networkOf(config, group),
    publish: async (event) => {
      // A connection that is on record is opened next: what comes back by it is known before it is there.
      const { group, data } = event;
      if (data.verdict === "allowed" && group !== undefined) await store.origins.reach(group, "web", clock.now());
      await publish(event);
    },
    logger,
    get nameservers() {
      return config.sandbox.nameservers;
    },
    now: () => clock.now(),
    overrides,
  });
}
