import type { Group } from "../../domain/chats/group.ts";
import type { Origin } from "../../domain/people/origin.ts";
import type { Provenance } from "../../domain/rights/policy.ts";
import type { Role } from "../../domain/people/role.ts";
import type { Turn } from "../../domain/turns/turn.ts";
import { type Asked, askerOf } from "../../rights/people/asker-role.ts";
import type { RoleOf } from "../../rights/people/roles.ts";
import type { Store } from "../../stores/contract/store.ts";

interface ProvenanceOptions {
  readonly origins: Pick<Store["origins"], "provenance">;
  readonly roleOf: RoleOf;
}

/** For whom a turn asks, by all who have asked in it so far, and what it has read by now. */
export async function provenanceOf(options: ProvenanceOptions, group: Group, turn: AskingTurn): Promise<Provenance> {
  const { role, origins } = await principalOf(options, group, turn);
  return { role, origins };
}

type AskingTurn = Pick<Turn, "id" | "cause">;

/**
 * The same, with who gives it that role, as `channel:id`, where somebody does. Who speaks along in work of somebody
 * else gives it no more rights.
 */
export async function principalOf(
  { origins: store, roleOf }: ProvenanceOptions,
  group: Group,
  { id, cause }: AskingTurn,
): Promise<{ readonly role: Role; readonly requester: string | undefined; readonly origins: readonly Origin[] }> {
  const { senders, work, origins } = await store.provenance(id);
  const asked: Asked = { senders, work: cause === "message" ? undefined : work };
  return { ...askerOf(roleOf, group, asked), origins };
}
