import type { Session } from "../../../domain/turns/session.ts";
import type { Group } from "../../../domain/chats/group.ts";
import { namedByAll } from "../../../domain/sandbox/skill.ts";
import type { AppContext } from "../../context.ts";
import { skillsLeftTo } from "../profiles.ts";

/** Skills of an agent in this session, in its container and by `$name`; undefined: all of its group's. */
export async function skillNamesIn(
  context: Pick<AppContext, "home" | "live" | "adapters" | "logger" | "store">,
  { group, session }: { readonly group: Pick<Group, "name" | "agent">; readonly session: Pick<Session, "id" | "kind"> },
): Promise<readonly string[] | undefined> {
  const ofAgent = context.live.groupOf(group).agent.skills;
  return session.kind === "agent" ? namedByAll([ofAgent, await skillsLeftTo(context, session)]) : ofAgent;
}

/**
 * Returns why a sub-agent cannot have these skills, for the model; undefined when it can. `lists`: skills left by its
 * parent and its profile.
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
