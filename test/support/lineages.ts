import type { Lineage } from "../../src/domain/rights/lineage.ts";

/** Lineage of a member whom nobody knows by name. */
export const ofMember: Lineage = { role: "member", origins: ["member"], people: [], narrowed: [] };

/** Returns the lineage of people with this role. */
export function lineageOf(role: Lineage["role"], ...people: readonly string[]): Lineage {
  return { role, origins: [role], people, narrowed: [] };
}
