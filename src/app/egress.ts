import { networkOf } from "../config/groups.ts";
import { EgressDoors } from "../egress/doors.ts";
import type { EgressOverrides } from "../egress/doors.ts";
import type { AppContext } from "./context.ts";

/** The groups' ways out, each decision of which goes on record and is counted. */
export function createEgress(context: AppContext, overrides: EgressOverrides | undefined): EgressDoors {
  const { config, home, logger, clock, record, metrics } = context;
  return new EgressDoors({
    folder: home.paths.egress,
    keyFolder: home.paths.keys,
    networkOf: (group) => networkOf(config, group),
    record: async (group, { destination, ...event }) => {
      metrics.egress(event.verdict, { up: event.bytesUp ?? 0, down: event.bytesDown ?? 0 });
      await record({ type: "egress", group, actor: "agent", data: { ...destination, ...event } });
      if (event.verdict === "masked") logger.warn({ group, ...destination }, "a secret was sent back, and was masked");
    },
    logger,
    now: () => clock.now(),
    overrides,
  });
}
