import type { RunningAbilities } from "../../abilities/start-abilities.ts";
import { earlierResults } from "../../turns/conversation/earlier-results.ts";
import type { HostTools } from "../../turns/collaborators.ts";
import type { AppContext } from "../context.ts";
import type { Approvals } from "../approvals.ts";
import type { createSpeech } from "./voice/speech.ts";
import type { SubAgents } from "./sub-agents.ts";

export interface ToolPortOptions {
  readonly subAgents: SubAgents;
  readonly approvals: Pick<Approvals, "forms">;
  readonly portOf: RunningAbilities["portOf"];
  readonly speech: ReturnType<typeof createSpeech>;
}

/**
 * Ports for host tools beyond those of every turn: each capability adds its port to `CapabilityPorts` and a line here.
 * Made per call, so that they are bound to the turn's group, session and rights.
 */
export function createToolPorts(
  context: AppContext,
  { subAgents, approvals, portOf, speech }: ToolPortOptions,
): HostTools["portsOf"] {
  return (scope, signal) => ({
    subAgents: subAgents.portFor(scope),
    results: earlierResults(context.store.turns, scope),
    askForm: (form, until) => {
      const { group, session, turn } = scope;
      return approvals.forms.ask({ group, session: session.id, turn: turn.id }, form, until);
    },
    ability: (name) => portOf(name, scope, signal),
    speech: speech(scope, signal),
  });
}
