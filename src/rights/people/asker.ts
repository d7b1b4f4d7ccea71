import type { Group } from "../../domain/chats/group.ts";
import type { ActingParty } from "../../domain/rights/may-act.ts";
import type { Turn } from "../../domain/turns/turn.ts";
import { lineageOfTurn, type LineageSources } from "./lineage-of-turn.ts";

/** A turn as somebody who asks: with the least role of everybody behind it. */
export async function turnAsAsker(
  sources: LineageSources,
  group: Pick<Group, "name" | "main">,
  turn: Pick<Turn, "id">,
): Promise<ActingParty> {
  const { role, people } = await lineageOfTurn(sources, group, turn);
  return { group: group.name, reachesAll: group.main, role, people: people.map((key) => [key]) };
}
