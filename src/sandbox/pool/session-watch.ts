import type { Logger } from "pino";

import type { Publish } from "../../domain/events/event.ts";
import { freeSpace } from "../../lib/files/free-space.ts";
import type { GroupSpace } from "../workspace/group-space.ts";
import { scratchFolderOf } from "../workspace/scratch-folder.ts";
import { WorkspaceWatch } from "../workspace/workspace-watch.ts";
import type { WatchedPool } from "./pool-options.ts";

interface SessionWatchOptions {
  readonly space: GroupSpace;
  /** The folder that holds the folders of groups. */
  readonly groups: string;
  /** The folder that holds the folders of sessions. */
  readonly sessions: string;
  readonly publish: Publish<"limit.reached">;
  readonly logger: Logger;
}

/** Ends containers of groups whose folders, with the scratch folders of sub-agents, are over the quota. */
export function watchSessions(pool: WatchedPool, options: SessionWatchOptions): WorkspaceWatch {
  const { space, groups, sessions, publish, logger } = options;
  return new WorkspaceWatch({
    get limitBytes() {
      return space.quotaBytes;
    },
    measure: (group, signal) => {
      const ofGroup = pool.list().filter((container) => container.group === group);
      const more = ofGroup.map(({ session }) => scratchFolderOf(sessions, session));
      return space.measure(group, signal, more);
    },
    free: () => freeSpace(groups),
    hot: () =>
      pool
        .list()
        .map(({ group, session, state }) => ({ group, session, busy: state === "busy" || pool.isHeld(session) })),
    exceeded: async ({ group, session }, hit) => {
      const data = { ...hit, unreported: 0 };
      await publish({ type: "limit.reached", group, session, actor: "agent", data });
      await pool.stop(session, hit.text);
    },
    logger,
  });
}
