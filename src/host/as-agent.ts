import { existsSync } from "node:fs";
import { join } from "node:path";

import { agentNameOf, groupWithAgent } from "../config/configured/agents.ts";
import { agentFolder, type Group, workFolder } from "../domain/chats/group.ts";
import { agentOfSession, agentsOf, type Session } from "../domain/turns/session.ts";
import { routeFor } from "../domain/settings/resolved-group.ts";
import type { SessionGroup } from "../turns/turn-scope.ts";
import { narrowSettings } from "./profiles.ts";
import type { AppContext } from "./context.ts";

/**
 * Returns the group as the agent with this id has it. A removed agent ends its work in its own folder, if it has one.
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

/**
 * Returns the group as it is for a session: with the session's agent and route, and with what a sub-agent's profile
 * leaves of its settings.
 */
export async function groupForSession(
  context: Parameters<typeof narrowSettings>[0],
  group: Group,
  session: Session,
): Promise<SessionGroup> {
  const ofAgent = asAgent(context, group, agentOfSession(session));
  const whole = { settings: context.live.groupOf(ofAgent) };
  const left = session.kind === "agent" ? await narrowSettings(context, session, whole.settings) : whole;
  const model = routeFor(left.settings, ofAgent, session.kind);
  return { ...left, group: model === ofAgent.model ? ofAgent : { ...ofAgent, model } };
}
