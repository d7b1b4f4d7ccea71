import { existsSync } from "node:fs";
import { join } from "node:path";

import { agentNameOf, groupWithAgent } from "../config/agents.ts";
import { agentFolder, type Group, workFolder } from "../domain/chats/group.ts";
import { agentOfSession, agentsOf, type Session } from "../domain/turns/session.ts";
import type { AppContext } from "./context.ts";

/**
 * The group as it is with the agent of this id. One that the group has no more ends its work where it began it: in a
 * folder of its own, if it has one.
 */
export function asAgent({ live, home }: Pick<AppContext, "live" | "home">, group: Group, agent: string): Group {
  const known = groupWithAgent(live.current, group, agent);
  if (agentsOf(group).includes(agent)) return known;
  const folder = agentFolder(group.name, agent);
  if (!existsSync(join(home.paths.groups, folder))) return known;
  return { ...known, acting: { name: agentNameOf(live.current, agent), folder } };
}

/** The name of the folder in which the agent of this session works. */
export function folderOfSession(
  context: Pick<AppContext, "live" | "home">,
  group: Group,
  session: Pick<Session, "key">,
): string {
  return workFolder(asAgent(context, group, agentOfSession(session)));
}
