import type { TurnOptions } from "../turns/turn-options.ts";
import type { SubAgents } from "./sub-agents.ts";

/**
 * What tools of the host are given beside what every turn has: each capability adds its port to `CapabilityPorts` and a line here. A
 * port is made for the call of a tool, so that it can be bound to the turn's group, session and rights.
 */
export function createToolPorts({ subAgents }: { readonly subAgents: SubAgents }): TurnOptions["portsOf"] {
  return (scope) => ({ subAgents: subAgents.portFor(scope) });
}
