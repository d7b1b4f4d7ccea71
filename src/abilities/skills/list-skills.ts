import { isChosen, type SkillChoice } from "../../domain/sandbox/skill.ts";
import { describeSkillFault } from "./format/parse-skill.ts";
import { findFor, findOfGroup, type FoundSkill, type SkillFolders, type SkillState } from "./places.ts";

/** A skill in a list. `off`: it could be used, and the group is not to have it. */
export interface ListedSkill {
  readonly name: string;
  readonly description: string;
  readonly source: FoundSkill["source"];
  readonly state: SkillState | "off";
  /** Group of the skill, for a group's own. */
  readonly group?: string | undefined;
  /** Fault, or the skill that replaces it. */
  readonly reason?: string | undefined;
  readonly sha256?: string | undefined;
  /** Written by an agent and allowed by people. */
  readonly byAgent?: true | undefined;
}

/** All that a group could have, and what it has of that. `left`: names that its agent is left with; absent: all. */
export async function listForGroup(
  places: SkillFolders,
  group: string,
  { choice, left }: { readonly choice: SkillChoice; readonly left: readonly string[] | undefined },
): Promise<ListedSkill[]> {
  const found = await findFor(places, group);
  return found.map((one) => {
    const isOff = one.state === "ok" && !(isChosen(choice, one) && left?.includes(one.name) !== false);
    return listed(isOff ? { ...one, state: "off" } : one, found);
  });
}

/** All skills: shared ones, and those of each group. */
export async function listAll(places: SkillFolders, groups: readonly string[]): Promise<ListedSkill[]> {
  const shared = await findFor(places, undefined);
  const own = await Promise.all(groups.map((group) => findOfGroup(places, group)));
  const all = [...shared, ...own.flat()];
  return all.map((one) => listed(one, all));
}

function listed(one: Omit<FoundSkill, "state"> & Pick<ListedSkill, "state">, all: readonly FoundSkill[]): ListedSkill {
  const { name, source, state, group, sha256, byAgent, facts, faults } = one;
  const nearer = all.find((other) => other.name === name && other.source !== source && other.state !== "hidden");
  const reason =
    state === "hidden" ? `the ${nearer?.source ?? "nearer"} one is used` : faults.map(describeSkillFault).join("; ");
  return {
    name,
    description: facts?.description ?? "",
    source,
    state,
    ...(group !== undefined && { group }),
    ...(reason !== "" && { reason }),
    sha256,
    ...(byAgent && { byAgent }),
  };
}
