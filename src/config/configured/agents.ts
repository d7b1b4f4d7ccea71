import { type ActingAgent, agentFolder, type Group } from "../../domain/chats/group.ts";
import { mainAgent } from "../../domain/turns/session.ts";
import { entryOf } from "../resolve/entry.ts";
import type { AgentSettings } from "../schema/agents.ts";
import type { Config } from "../schema/config.ts";

type Agents = Pick<Config, "agents" | "assistant">;

/** Configuration of the agent with this id; undefined when none. */
export function agentOf({ agents }: Pick<Config, "agents">, id: string): AgentSettings | undefined {
  return Object.hasOwn(agents, id) ? agents[id] : undefined;
}

/** Display name of an agent; its id when it is no longer configured. */
export function agentNameOf(config: Agents, id: string | undefined = mainAgent): string {
  return id === mainAgent ? config.assistant.name : (agentOf(config, id)?.name ?? id);
}

/** Returns the group as this agent has it, even an agent that was removed and still has work to end. */
export function groupWithAgent(config: Config, group: Group, agent: string): Group {
  const acting = group.agents && actingAgent(config, group, agent);
  if (agent === (group.agent ?? mainAgent)) return acting ? { ...group, acting } : group;
  const own = group.origin === "store" || agent === mainAgent ? group.model : undefined;
  const model = entryOf(config, group.name)?.model ?? agentOf(config, agent)?.route ?? own;
  return { ...group, agent, model, acting };
}

/**
 * The first agent has the group's folder, each other one a separate folder: nothing that one writes is read by another.
 */
function actingAgent(config: Agents, { name, agent: first = mainAgent }: Group, agent: string): ActingAgent {
  return { name: agentNameOf(config, agent), folder: agent === first ? undefined : agentFolder(name, agent) };
}
