import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { GroupSkills } from "../../skills/group-skills.ts";
import type { TurnOptions } from "../../turns/turn-options.ts";
import type { AppContext } from "../context.ts";
import type { Memories } from "../memory/memory.ts";
import { skillPort } from "./skills.ts";
import { taskPort, type Tasks } from "./tasks.ts";
import type { SubAgents } from "./sub-agents.ts";

export interface ToolPortOptions {
  readonly groups: GroupRegistry;
  readonly tasks: Tasks;
  readonly subAgents: SubAgents;
  readonly memories: Pick<Memories, "port">;
  readonly skills: GroupSkills;
}

/**
 * What tools of the host are given beside what every turn has: each capability adds its port to `CapabilityPorts` and a line here. A
 * port is made for the call of a tool, so that it can be bound to the turn's group, session and rights.
 */
export function createToolPorts(
  context: AppContext,
  { groups, tasks, subAgents, memories, skills }: ToolPortOptions,
): TurnOptions["portsOf"] {
  return (scope) => ({
    tasks: taskPort(context, tasks, groups, scope),
    subAgents: subAgents.portFor(scope),
    memory: memories.port(scope),
    skills: skillPort(context, skills, scope),
  });
}
