import type { Session } from "../../domain/turns/session.ts";
import type { Group } from "../../domain/chats/group.ts";
import { namedByAll } from "../../domain/sandbox/skill.ts";
import type { AppContext } from "../context.ts";
import { skillsLeftTo } from "./profiles.ts";

/**
 * The only skills that an agent gets of its group's in this session: in its container and by `$name`; undefined: all.
 */
export async function skillNamesIn(
  context: Pick<AppContext, "home" | "live" | "adapters" | "logger" | "store">,
  { group, session }: { readonly group: Pick<Group, "name" | "agent">; readonly session: Pick<Session, "id" | "kind"> },
): Promise<readonly string[] | undefined> {
  const ofAgent = context.live.groupOf(group).agent.skills;
  return session.kind === "agent" ? namedByAll([ofAgent, await skillsLeftTo(context, session)]) : ofAgent;
}

/**
 * Why a sub-agent may not have all of these skills, for the model; undefined: it may. `lists`: what its parent and its
 * profile are left with.
 */
export function refusalOfSkills(
  known: readonly { readonly name: string }[],
  wanted: readonly string[],
  lists: readonly (readonly string[] | undefined)[],
): string | undefined {
  const all = known.map(({ name }) => name);
  const offered = namedByAll([all, ...lists]) ?? [];
  const missing = wanted.find((name) => !offered.includes(name));
  if (missing === undefined) return undefined;
  return `You have no skill ${JSON.stringify(missing)} to give to it. You may name: ${offered.join(", ") || "none"}.`;
}
