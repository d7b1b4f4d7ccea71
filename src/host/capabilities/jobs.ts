import type { Group } from "../../domain/chats/group.ts";
import type { Job } from "../../domain/work/job.ts";
import { JobDesk } from "../../abilities/jobs/job-desk.ts";
import type { JobOwner } from "../../abilities/jobs/job-work.ts";
import type { SessionPool } from "../../sandbox/pool/pool.ts";
import type { AppContext } from "../context.ts";
import { principalOf } from "../../rights/people/principal.ts";

interface JobOptions {
  readonly groups: { byName(name: string): Group | undefined };
  /** Is there by the time that the first container is. */
  readonly pool: () => SessionPool;
  readonly workAdded: () => void;
}

/** Looks after background jobs. */
export function createJobs(context: AppContext, { groups, pool, workAdded }: JobOptions): JobDesk {
  const { live, store, clock, publish, logger } = context;
  return new JobDesk({
    store: store.jobs,
    limits: (group) => live.groupOf({ name: group }).jobs,
    ownerOf: (job) => ownerOf(context, groups.byName(job.group), job),
    tellAgent: (session, job) => pool().stopJob(session, job),
    endContainer: (session, reason) => pool().stop(session, reason),
    over: (session) => pool().rest(session),
    workAdded,
    publish,
    clock,
    logger,
  });
}

/** Whoever had the least rights among those for whom its turn worked, and what that turn had read. */
async function ownerOf({ store, roles }: AppContext, group: Group | undefined, job: Job): Promise<JobOwner> {
  const turn = await store.turns.get(job.turn);
  if (!group || !turn) return { origin: "guest", replyTo: { kind: "nowhere" } };
  const options = { origins: store.origins, roleOf: roles.roleOf };
  const { role, requester, origins } = await principalOf(options, group, turn);
  return { origin: role, origins, requester, replyTo: turn.replyTo };
}
