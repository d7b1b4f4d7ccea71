import { rmdir } from "node:fs/promises";
import { join } from "node:path";

import { errorCode, toError } from "../../lib/app-error.ts";
import { SideSessions } from "../../work/sessions/side-sessions.ts";
import type { Containers } from "../containers.ts";
import type { AppContext } from "../context.ts";

/** Sessions beside the main ones, whose containers and mailboxes go with them. */
export function createSideSessions(
  { store, home, clock, logger }: AppContext,
  stack: AsyncDisposableStack,
  { pool, workAdded }: Pick<Containers, "pool"> & { readonly workAdded: () => void },
): SideSessions {
  return stack.use(
    new SideSessions({
      store,
      workAdded,
      clear: async (session) => {
        await pool.retire(session, "its work is settled");
        // The mailbox goes with its container; what a session has left in its folder besides is kept.
        for (const folder of ["mail", "."]) await removeEmpty(join(home.paths.sessions, session.id, folder));
      },
      onError: (error) =>
        logger.error({ err: toError(error) }, "a session could not be archived; the next start retries"),
      clock,
    }),
  );
}

async function removeEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!["ENOENT", "ENOTEMPTY", "EEXIST"].includes(errorCode(error))) throw error;
  }
}
