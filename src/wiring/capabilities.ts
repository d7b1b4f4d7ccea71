import { AppError } from "../lib/app-error.ts";
import type { SideSessions } from "../sessions/side-sessions.ts";
import type { AppContext } from "./context.ts";
import { createSideSessions } from "./side-sessions.ts";
import { createSubAgents } from "./sub-agents.ts";
import type { SubAgents, SubAgentsOptions } from "./sub-agents.ts";
import { createToolPorts } from "./tool-ports.ts";
import type { createTurns } from "./turns.ts";

/** What agents can do besides answering messages. */
export interface Capabilities {
  readonly sideSessions: SideSessions;
  readonly subAgents: SubAgents;
  readonly forTurns: Pick<Parameters<typeof createTurns>[2], "workAdded" | "turnEndedIn" | "portsOf" | "agents">;
  /** Puts in order what an earlier life of the host has left, before anything else is looked at. */
  readonly resume: () => Promise<void>;
}

/** Each capability is made here, of what it needs; what none of them uses costs nothing. */
export function createCapabilities(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: Omit<SubAgentsOptions, "sideSessions" | "profileOf">,
): Capabilities {
  const { workAdded } = options;
  const sideSessions = createSideSessions(context, stack, options);
  const subAgents = createSubAgents(context, stack, { ...options, sideSessions, profileOf: noProfile });
  return {
    sideSessions,
    subAgents,
    forTurns: {
      workAdded,
      turnEndedIn: (session) => {
        sideSessions.settled(session);
        subAgents.desk.turnsEnded();
      },
      portsOf: createToolPorts({ subAgents }),
      agents: subAgents,
    },
    resume: () => sideSessions.resume(),
  };
}

async function noProfile(name: string): Promise<never> {
  throw new AppError("not_found", `There is no profile "${name}", nor any other.`);
}
