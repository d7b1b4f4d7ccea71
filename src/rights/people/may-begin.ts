import type { Group } from "../../domain/chats/group.ts";
import { type MemberId, parseMemberKey } from "../../domain/people/person.ts";
import type { Lineage } from "../../domain/rights/lineage.ts";
import type { JudgeHearing } from "./hearing.ts";

/**
 * Judges whether work may begin or go on in this group for these people; a refusal is in words for a chat. Asked when
 * work begins: since they asked, somebody may have been denied or have lost a role, and they may have asked in another
 * group. Without people it is the operator's own setting that causes it.
 */
export function refusalToBegin(
  judge: JudgeHearing,
  group: Pick<Group, "name" | "main">,
  { people }: Pick<Lineage, "people">,
): string | undefined {
  const isHeard = (key: string): boolean => {
    const who = parseMemberKey(key);
    return who !== undefined && mayTrigger(judge, group, who);
  };
  return people.every(isHeard) ? undefined : refusedWork;
}

/** Refusal of work, as the end of a sentence. */
export const refusedWork = "somebody behind it may not set the agent of this group to work.";

/** May this person set the group's agent to work? */
export function mayTrigger(judge: JudgeHearing, group: Pick<Group, "name" | "main">, who: MemberId): boolean {
  return judge(group, who).may === "trigger";
}
