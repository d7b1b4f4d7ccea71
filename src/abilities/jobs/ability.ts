import type { Group } from "../../domain/chats/group.ts";
import { unknownLineage } from "../../domain/rights/lineage.ts";
import { lineageOfTurn } from "../../rights/people/lineage-of-turn.ts";
import type { RoleOf } from "../../rights/people/roles.ts";
import type { SessionPool } from "../../sandbox/pool/pool.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineAbility } from "../define-ability.ts";
import type { JobServiceOptions } from "./job-service.ts";

interface JobAbilityNeeds extends Pick<JobServiceOptions, "workAdded" | "publish" | "clock" | "logger"> {
  readonly jobLimitsOf: JobServiceOptions["limits"];
  readonly groups: { byName(name: string): Group | undefined };
  readonly pool: JobServiceOptions["pool"] & Pick<SessionPool, "signals">;
  readonly roleOf: RoleOf;
  readonly store: Pick<Store, "jobs" | "origins" | "turns">;
}

/** Lets agents run commands in the background. */
export const jobs = defineAbility<JobAbilityNeeds>()({
  name: "jobs",
  start: async ({ jobLimitsOf, groups, roleOf, store, ...needs }) => {
    const { pool } = needs;
    const { JobService } = await import("./job-service.ts");
    const service = new JobService({
      store: store.jobs,
      limits: jobLimitsOf,
      lineageOf: async (name, turn) => {
        const group = groups.byName(name);
        return group ? lineageOfTurn({ origins: store.origins, roleOf }, group, { id: turn }) : unknownLineage;
      },
      ownerOf: async (job) => {
        const turn = groups.byName(job.group) && (await store.turns.get(job.turn));
        return turn
          ? { replyTo: turn.replyTo, origins: turn.lineage.origins }
          : { replyTo: { kind: "nowhere" }, origins: unknownLineage.origins };
      },
      ...needs,
    });
    pool.signals.job.on(({ run, payload, turn }) => service.report(run, payload, turn));
    pool.signals.adopted.on((run) => service.adopted(run));
    pool.signals.ended.on(({ run, reason }) => service.gone(run, reason));
    pool.signals.reconciled.on(() => service.settleLost());
    return service;
  },
});
