import type { Group } from "../domain/group.ts";
import type { Rule } from "../domain/policy.ts";
import { mainAgent } from "../domain/session.ts";
import { entryOf } from "./groups.ts";
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

/** The group as it is with this agent, which may be another one than it has now: that one's work is still to be ended. */
export function groupWithAgent(config: Config, group: Group, agent: string): Group {
  if (agent === (group.agent ?? mainAgent)) return group;
  const own = group.origin === "store" || agent === mainAgent ? group.model : undefined;
  const model = entryOf(config, group.name)?.model ?? agentOf(config, agent)?.route ?? own;
  return { ...group, agent, model };
}

/** The rules that come before all others: a list of tools is the end of it, and an agent that is not configured may use none. */
export function rulesOfAgent(config: Pick<Config, "agents">, id: string | undefined = mainAgent): readonly Rule[] {
  const agent = agentOf(config, id);
  if (!agent) return id === mainAgent ? [] : [{ name: `agents: there is no ${id} any more`, action: "deny" }];
  if (!agent.tools) return [];
  return [{ name: `tools of agent ${id}`, exceptTools: agent.tools, action: "deny" }];
}
