import * as z from "zod";

import { defineOperation } from "../../operations/definition/define-operation.ts";
import { list, name, schemaOf } from "../../operations/definition/schemas.ts";
import { plainSentence } from "../../lib/text/plain-words.ts";
import { shorten } from "../../lib/text/visible.ts";
import type { ListedSkill } from "./list-skills.ts";

/** The part that knows skills. */
export interface SkillNeeds {
  readonly skills: {
    /** List for `crabpot skills list`; `group`: those of one group. Rejects with `not_found`. */
    list(group: string | undefined): Promise<readonly ListedSkill[]>;
  };
}

const skill = schemaOf<ListedSkill>(z.looseObject({}));

/** In a chat. */
const [most, mostChars] = [40, 200];

export const listSkills = defineOperation<SkillNeeds>()({
  name: "skills.list",
  summary: "list skills of all groups, or those that one group could have",
  input: z.strictObject({ group: name.optional().describe("skills of this group") }),
  output: list(skill),
  may: { scope: "read", role: "member" },
  effect: "none",
  rest: "GET /skills",
  listAs: "skills",
  offline: "files",
  cli: {
    table: [
      "name",
      { title: "source", of: ({ source, group }) => (group === undefined ? source : `${source} ${group}`) },
      { title: "state", of: ({ state, reason }) => (reason === undefined ? state : `${state}: ${reason}`) },
      { field: "description", fills: true },
    ],
    none: () => "There are no skills.",
  },
  chat: { form: "/skills", say: describeSkills },
  run: ({ skills }, { group }) => skills.list(group),
});

/** Those that the group's agent can read up on; `$name` in a message means one. */
function describeSkills(skills: readonly ListedSkill[]): string {
  const all = skills.filter(({ state }) => state === "ok");
  if (all.length === 0) return "I have no skills here.";
  const lines = all
    .slice(0, most)
    .map(({ name: called, description }) => `$${called}: ${shorten(plainSentence(description), mostChars)}`);
  return [...lines, ...(all.length > most ? [`${all.length - most} more.`] : [])].join("\n");
}

/** Operations on skills. */
export const skillOperations = [listSkills] as const;
