import { networkOf } from "../config/groups.ts";
import { EgressDoors } from "../sandbox/egress/doors.ts";
import type { EgressOverrides } from "../sandbox/egress/doors.ts";
import type { AppContext } from "./context.ts";

/** The groups' ways out. */
export function createEgress(context: AppContext, overrides: EgressOverrides | undefined): EgressDoors {
  const { config, home, logger, clock, publish } = context;
  return new EgressDoors({
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
