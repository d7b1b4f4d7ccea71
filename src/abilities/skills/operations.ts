import * as z from "zod";

import { defineOperation } from "../../operations/definition/define-operation.ts";
import { list, name } from "../../operations/definition/schemas.ts";

/** The part that knows skills. */
export interface SkillNeeds {
  readonly skills: {
    /** List for `crabpot skills list`; `group`: those of one group. Rejects with `not_found`. */
    list(group: string | undefined): Promise<readonly object[]>;
  };
}

const skill: z.ZodType<object> = z.looseObject({});

export const listSkills = defineOperation<SkillNeeds>()({
  name: "skills.list",
  summary: "list skills of all groups, or those that one group could have",
  input: z.strictObject({ group: name.optional() }),
  output: list(skill),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /skills",
  listAs: "skills",
  run: ({ skills }, { group }) => skills.list(group),
});

/** Operations on skills. */
export const skillOperations = [listSkills] as const;
