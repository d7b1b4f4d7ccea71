import { networkOf } from "../config/groups.ts";
import { EgressDoors } from "../sandbox/egress/doors.ts";
import type { EgressOverrides } from "../sandbox/egress/doors.ts";
import type { TellOperator } from "./alerts.ts";
import type { AppContext } from "./context.ts";

/** The groups' ways out, each decision of which goes on record and is counted. */
export function createEgress(
  context: AppContext,
  { overrides, tell }: { readonly overrides: EgressOverrides | undefined; readonly tell: TellOperator },
): EgressDoors {
  const { config, home, logger, clock, record, metrics } = context;
  return new EgressDoors({
    folder: home.paths.egress,
    keyFolder: home.paths.keys,
    networkOf: (group) => networkOf(config, group),
    record: async (group, { destination, ...event }) => {
      metrics.egress(event.verdict, { up: event.bytesUp ?? 0, down: event.bytesDown ?? 0 });
      await record({ type: "egress", group, actor: "agent", data: { ...destination, ...event } });
      if (event.verdict === "masked") logger.warn({ group, ...destination }, "a secret was sent back, and was masked");
      if (event.verdict !== "barred") return;
      const place = `${destination?.host ?? ""}:${destination?.port ?? 0}`;
      logger.error({ group, ...destination }, "a destination has sent secrets back and is closed to this group");
      tell({
        text: `${place} has sent a secret of group ${group} back several times, so it is closed to that group until crabpot is started again. Bind the secret to the methods and paths that need it: docs/egress.md.`,
      });
    },
    logger,
    nameservers: config.sandbox.nameservers,
    now: () => clock.now(),
    overrides,
  });
}
