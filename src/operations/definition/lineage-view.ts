import * as z from "zod";

import { origins } from "../../domain/people/origin.ts";
import { roles } from "../../domain/people/role.ts";
import type { Lineage } from "../../domain/rights/lineage.ts";
import { list } from "./schemas.ts";

/** A lineage as operators see it, beside the other fields of what it is about. */
export const lineageView = z.strictObject({
  role: z.enum(roles).describe("the least role behind it: it never has more rights"),
  origins: list(z.enum(origins)).describe("sources of the words behind it"),
  people: list(z.string()).describe("members behind it, the one with the least role first"),
  narrowed: list(z.string()).describe("profiles of sub-agents whose rules hold for it"),
});

/** Returns the fields of a lineage. */
export function viewLineage({ role, origins: read, people, narrowed }: Lineage): z.infer<typeof lineageView> {
  return { role, origins: [...read], people: [...people], narrowed: [...narrowed] };
}
