import type { Group } from "../../domain/chats/group.ts";
import type { Origin } from "../../domain/people/origin.ts";
import type { Provenance } from "../../domain/rights/policy.ts";
import type { Turn } from "../../domain/turns/turn.ts";
import type { OriginStore } from "../../stores/contract/origin-store.ts";
import { askerOf, type TurnAsker } from "./asker-role.ts";
import type { RoleOf } from "./roles.ts";

interface PrincipalOptions {
  readonly origins: Pick<OriginStore, "provenance">;
  readonly roleOf: RoleOf;
}

type AskingTurn = Pick<Turn, "id" | "cause">;

/** The person whose rights a turn has, and what it has read by now. */
export interface Principal extends TurnAsker {
  readonly origins: readonly Origin[];
}

/** Role of a turn, by all who have asked in it so far, and what it has read by now. */
export async function provenanceOf(options: PrincipalOptions, group: Group, turn: AskingTurn): Promise<Provenance> {
  const { role, origins } = await principalOf(options, group, turn);
  return { role, origins };
}

/**
 * Finds out for whom a turn works. Everything that a turn begins, asks or makes is for this person: tasks, jobs,
 * sub-agents, approvals and forms.
 */
export async function principalOf(
  { origins: store, roleOf }: PrincipalOptions,
  group: Group,
  { id, cause }: AskingTurn,
): Promise<Principal> {
  const { senders, work, origins } = await store.provenance(id);
  return { ...askerOf(roleOf, group, { senders, work: cause === "message" ? undefined : work }), origins };
}
