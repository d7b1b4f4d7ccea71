import type { ResolvedGroup } from "./resolved-group.ts";
import { webAbilities } from "./web.ts";

/**
 * Abilities of a group that some tools need: other sessions to see, memories, skills, speech, pages of the web, web
 * search, a browser in its image.
 */
export const groupAbilities = ["sessions", "memory", "skills", "speech", "fetch", "search", "browser"] as const;

export type GroupAbility = (typeof groupAbilities)[number];

/** Returns what is configured for a group that tools may need. */
export function abilitiesOf(
  group: Pick<ResolvedGroup, "sessionVisibility" | "remembers" | "skills" | "speaks" | "web" | "image">,
): ReadonlySet<GroupAbility> {
  const { fetches, searches } = webAbilities(group.web);
  const has: Readonly<Record<GroupAbility, boolean>> = {
    sessions: group.sessionVisibility !== undefined,
    memory: group.remembers,
    skills: group.skills !== "none",
    speech: group.speaks,
    fetch: fetches,
    search: searches,
    browser: group.image.browser === true,
  };
  return new Set(groupAbilities.filter((ability) => has[ability]));
}
