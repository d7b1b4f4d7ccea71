import { existsSync } from "node:fs";
import { join } from "node:path";

import { agentFolder, type Group, workFolder } from "../../domain/chats/group.ts";
import { type ResolvedGroup, routeFor } from "../../domain/settings/resolved-group.ts";
import { agentOfSession, agentsOf, type Session } from "../../domain/turns/session.ts";
import type { SessionGroups } from "../../turns/collaborators.ts";
import type { SessionGroup } from "../../turns/turn-scope.ts";
import type { LiveConfig } from "../changes/live-config.ts";
import { agentNameOf, groupWithAgent } from "../configured/agents.ts";
import type { AgentProfiles } from "../profiles/agent-profiles.ts";

export interface AgentGroupsOptions {
  readonly live: Pick<LiveConfig, "current" | "groupOf">;
  /** Holds the folders of groups. */
  readonly folder: string;
  readonly profiles: Pick<AgentProfiles, "narrow" | "narrowBy">;
}

/** Groups as their agents have them. */
export class AgentGroups implements SessionGroups {
  readonly #options: AgentGroupsOptions;

  constructor(options: AgentGroupsOptions) {
    this.#options = options;
  }

  /**
   * Returns the group as the agent with this id has it. A removed agent ends its work in its own folder, if it has one.
   */
  asAgent(group: Group, agent: string): Group {
    const { live, folder } = this.#options;
    const known = groupWithAgent(live.current, group, agent);
    if (agentsOf(group).includes(agent)) return known;
    const own = agentFolder(group.name, agent);
    if (!existsSync(join(folder, own))) return known;
    return { ...known, acting: { name: agentNameOf(live.current, agent), folder: own } };
  }

  /** Returns the name of the folder in which the agent of this session works. */
  folderOfSession(group: Group, session: Pick<Session, "key">): string {
    return workFolder(this.asAgent(group, agentOfSession(session)));
  }

  /**
   * Returns the group as it is for a session: with the session's agent and route, and with what a sub-agent's profile
   * leaves of its settings.
   */
  async forSession(group: Group, session: Session): Promise<SessionGroup> {
    const { live, profiles } = this.#options;
    const ofAgent = this.asAgent(group, agentOfSession(session));
    const whole = live.groupOf(ofAgent);
    const left = session.kind === "agent" ? await profiles.narrow(session, whole) : { settings: whole };
    const model = routeFor(left.settings, ofAgent, session.kind);
    return { ...left, group: model === ofAgent.model ? ofAgent : { ...ofAgent, model } };
  }

  narrow(settings: ResolvedGroup, profiles: readonly string[]): ReturnType<AgentProfiles["narrowBy"]> {
    return this.#options.profiles.narrowBy(settings, profiles);
  }
}
