import type { SideSessions } from "../sessions/side-sessions.ts";
import type { Containers } from "./containers.ts";
import type { AppContext } from "./context.ts";
import { createMemories, type Memories } from "./memory.ts";
import { createSideSessions } from "./side-sessions.ts";
import { createToolPorts } from "./tool-ports.ts";
import type { createTurns } from "./turns.ts";

/** What agents can do besides answering messages. */
export interface Capabilities {
  readonly sideSessions: SideSessions;
  readonly memories: Memories;
  readonly forTurns: Pick<Parameters<typeof createTurns>[2], "workAdded" | "turnEndedIn" | "portsOf" | "recall">;
  /** Puts in order what an earlier life of the host has left, before anything else is looked at. */
  readonly resume: () => Promise<void>;
}

type CapabilityParts = Pick<Containers, "pool"> &
  Parameters<typeof createMemories>[2] & { readonly workAdded: () => void };

/** Each capability is made here, of what it needs; what none of them uses costs nothing. */
export function createCapabilities(
  context: AppContext,
  stack: AsyncDisposableStack,
  { pool, workAdded, ...shared }: CapabilityParts,
): Capabilities {
  const memories = createMemories(context, stack, shared);
  const sideSessions = createSideSessions(context, stack, { pool, workAdded });
  return {
    sideSessions,
    memories,
    forTurns: {
      workAdded,
      turnEndedIn: (session) => sideSessions.settled(session),
      portsOf: createToolPorts({ memory: (scope) => memories.port(scope) }),
      recall: memories.recall,
    },
    resume: async () => {
      await sideSessions.resume();
      memories.resume();
    },
  };
}
