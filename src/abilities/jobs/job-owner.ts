import type { Group } from "../../domain/chats/group.ts";
import type { Job } from "../../domain/work/job.ts";
import { principalOf } from "../../rights/people/principal.ts";
import type { RoleOf } from "../../rights/people/roles.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { JobOwner } from "./job-work.ts";

/** Finds out for whom the turn worked that started a job, and what it had read. */
export async function ownerOf(
  {
    store,
    roleOf,
  }: {
    readonly store: {
      readonly turns: Pick<Store["turns"], "get">;
      readonly origins: Pick<Store["origins"], "provenance">;
    };
    readonly roleOf: RoleOf;
  },
  group: Group | undefined,
  job: Pick<Job, "turn">,
): Promise<JobOwner> {
  const turn = await store.turns.get(job.turn);
  if (!group || !turn) return { origin: "guest", replyTo: { kind: "nowhere" } };
  const { role, requester, origins } = await principalOf({ origins: store.origins, roleOf }, group, turn);
  return { origin: role, origins, requester, replyTo: turn.replyTo };
}
