import type { Group } from "../../domain/chats/group.ts";
import { type Lineage, lineageNow } from "../../domain/rights/lineage.ts";
import type { Turn } from "../../domain/turns/turn.ts";
import type { OriginStore } from "../../stores/contract/origin-store.ts";
import type { RoleOf } from "./roles.ts";

/** Stores of lineages, and the roles that people have now. */
export interface LineageSources {
  readonly origins: Pick<OriginStore, "lineage">;
  readonly roleOf: RoleOf;
}

/**
 * Finds out for whom a turn works, with which role, and what it has read by now. Everything that a turn begins, asks or
 * makes inherits this: tasks, jobs, sub-agents, work for other sessions, approvals and forms.
 */
export async function lineageOfTurn(
  { origins, roleOf }: LineageSources,
  group: Pick<Group, "name" | "main">,
  { id }: Pick<Turn, "id">,
): Promise<Lineage> {
  return lineageNow(await origins.lineage(id), (who) => roleOf(group, who));
}
