import type { Group } from "../../domain/chats/group.ts";
import { JobService } from "../../abilities/jobs/job-service.ts";
import { ownerOf } from "../../abilities/jobs/job-owner.ts";
import type { SessionPool } from "../../sandbox/pool/pool.ts";
import type { AppContext } from "../context.ts";

interface JobOptions {
  readonly groups: { byName(name: string): Group | undefined };
  /** Is there by the time that the first container is. */
  readonly pool: () => SessionPool;
  readonly workAdded: () => void;
}

/** Looks after background jobs. */
export function createJobs(context: AppContext, { groups, pool, workAdded }: JobOptions): JobService {
  const { live, store, roles, clock, publish, logger } = context;
  return new JobService({
    store: store.jobs,
    limits: (group) => live.groupOf({ name: group }).jobs,
    ownerOf: (job) => ownerOf({ store, roleOf: roles.roleOf }, groups.byName(job.group), job),
    tellAgent: (session, job) => pool().stopJob(session, job),
    endContainer: (session, reason) => pool().stop(session, reason),
    over: (session) => pool().rest(session),
    workAdded,
    publish,
    clock,
    logger,
  });
}
