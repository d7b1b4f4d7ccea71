import type { SideSessions } from "../sessions/side-sessions.ts";
import type { Containers } from "./containers.ts";
import type { AppContext } from "./context.ts";
import { createSideSessions } from "./side-sessions.ts";
import { createToolPorts } from "./tool-ports.ts";
import type { createTurns } from "./turns.ts";

/** What agents can do besides answering messages. */
export interface Capabilities {
  readonly sideSessions: SideSessions;
  readonly forTurns: Pick<Parameters<typeof createTurns>[2], "workAdded" | "turnEndedIn" | "portsOf">;
  /** Puts in order what an earlier life of the host has left, before anything else is looked at. */
  readonly resume: () => Promise<void>;
}

/** Each capability is made here, of what it needs; what none of them uses costs nothing. */
export function createCapabilities(
  context: AppContext,
  stack: AsyncDisposableStack,
  { pool, workAdded }: Pick<Containers, "pool"> & { readonly workAdded: () => void },
): Capabilities {
  const sideSessions = createSideSessions(context, stack, { pool, workAdded });
  return {
    sideSessions,
    forTurns: {
      workAdded,
      turnEndedIn: (session) => sideSessions.settled(session),
      portsOf: createToolPorts(),
    },
    resume: () => sideSessions.resume(),
  };
}
