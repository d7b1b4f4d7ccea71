import type { Members } from "../../domain/people/person.ts";
import type { Role } from "../../domain/people/role.ts";
import type { Config } from "../schema/config.ts";
import { entryOf } from "./entry.ts";

/** Roles in this group: its own `members`, otherwise those for every group; undefined where nothing is said. */
export function membersOf(config: Pick<Config, "groups" | "members">, group: string): Members | undefined {
  const own = entryOf(config, group)?.members;
  if (own) return { place: `groups.${group}.members`, ...split(own) };
  return Object.keys(config.members).length === 0 ? undefined : { place: "members", ...split(config.members) };
}

function split({ default: other, ...byKey }: Config["members"]): Omit<Members, "place"> {
  return { default: other, byKey };
}

/** Least role that may address the agent of this group. */
export function triggerRole(config: Pick<Config, "groups" | "access">, group: string): Role {
  const own = entryOf(config, group)?.access;
  const trigger = own?.trigger ?? config.access.trigger;
  return trigger === "everyone" ? "guest" : trigger;
}

/** People who are silenced in this group. */
export function deniedIn(config: Pick<Config, "groups" | "access">, group: string): readonly string[] {
  return [...config.access.deny, ...(entryOf(config, group)?.access?.deny ?? [])];
}
