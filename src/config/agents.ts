import { type ActingAgent, agentFolder, type Group } from "../domain/chats/group.ts";
import { mainAgent } from "../domain/turns/session.ts";
import { entryOf } from "./resolve/entry.ts";
import type { AgentSettings } from "./schema/agents.ts";
import type { Config } from "./schema/config.ts";

type Agents = Pick<Config, "agents" | "assistant">;

/** What is configured for the agent of this id; undefined: nothing. */
export function agentOf({ agents }: Pick<Config, "agents">, id: string): AgentSettings | undefined {
  return Object.hasOwn(agents, id) ? agents[id] : undefined;
}

/** What people call it. An agent that is not configured any more goes by its id. */
export function agentNameOf(config: Agents, id: string | undefined = mainAgent): string {
  return id === mainAgent ? config.assistant.name : (agentOf(config, id)?.name ?? id);
}

/**
 * The group as it is with this agent, which may be one that it does not have any more: that one's work is still to be
 * ended.
 */
export function groupWithAgent(config: Config, group: Group, agent: string): Group {
  const acting = group.agents && actingAgent(config, group, agent);
  if (agent === (group.agent ?? mainAgent)) return acting ? { ...group, acting } : group;
  const own = group.origin === "store" || agent === mainAgent ? group.model : undefined;
  const model = entryOf(config, group.name)?.model ?? agentOf(config, agent)?.route ?? own;
  return { ...group, agent, model, acting };
}

/**
 * Beside the first agent, which has the group's folder, each has one of its own: nothing that one of them writes is
 * read by another.
 */
function actingAgent(config: Agents, { name, agent: first = mainAgent }: Group, agent: string): ActingAgent {
  return { name: agentNameOf(config, agent), folder: agent === first ? undefined : agentFolder(name, agent) };
}
