import type { CapabilityPorts } from "../tools/define-tool.ts";
import type { TurnOptions, TurnScope } from "../turns/turn-options.ts";

/** What makes the port of each capability; undefined where its group does not use it. */
export interface PortMakers {
  readonly memory: (scope: TurnScope, signal: AbortSignal) => CapabilityPorts["memory"];
}

/**
 * What tools of the host are given beside what every turn has: each capability adds its port to `CapabilityPorts` and a line here. A
 * port is made for the call of a tool, so that it can be bound to the turn's group, session and rights.
 */
export function createToolPorts(makers: PortMakers): TurnOptions["portsOf"] {
  return (scope, signal) => ({ memory: makers.memory(scope, signal) });
}
