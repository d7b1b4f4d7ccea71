import type { Logger } from "pino";

import type { Group } from "../../domain/chats/group.ts";
import { agentOfSession, isSessionOf } from "../../domain/turns/session.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import { removeStaleMailboxes } from "../../sandbox/mailbox/folders.ts";
import { EngineWait, type EngineWaitOptions } from "../../sandbox/engine/engine-wait.ts";
import type { SessionPool } from "../../sandbox/pool/pool.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";

interface AdoptOptions {
  readonly sessions: Pick<SessionStore, "list">;
  /** `<home>/sessions` */
  readonly folder: string;
  readonly groups: Pick<GroupRegistry, "byName">;
  readonly agentGroups: {
    /** Returns the group as the agent with this id has it. */
    asAgent(group: Group, agent: string): Group;
  };
  readonly pool: Pick<SessionPool, "reconcile" | "retire" | "list">;
  readonly logger: Logger;
}

/** Takes over or removes the containers and mailboxes that an earlier life of the host has left. */
export async function adoptContainers(
  { sessions: store, folder, groups, agentGroups, pool, logger }: AdoptOptions,
  /** Ids of sessions whose agent was at work. */
  busy: ReadonlySet<string>,
): Promise<void> {
  const sessions = await store.list();
  await pool.reconcile(async (id) => {
    const session = sessions.find((candidate) => candidate.id === id);
    const group = session && groups.byName(session.group);
    if (!group || !isSessionOf(session, group) || session.archivedAt !== undefined) return undefined;
    return { group: agentGroups.asAgent(group, agentOfSession(session)), session, busy: busy.has(id) };
  });
  // What was said while they were taken over counts as well.
  for (const session of await store.list()) await pool.retire(session, "a new conversation has begun");
  const hot = new Set(pool.list().map(({ session, generation }) => `${session}/${generation}`));
  const left = await removeStaleMailboxes(folder, (session, generation) => hot.has(`${session}/${generation}`));
  if (left.length > 0) logger.warn({ folders: left }, "mailboxes of earlier containers could not be removed");
}

/**
 * Waits for the engine, and then takes over or removes what an earlier life of the host has left. Turns that run now
 * count as at work, also those that are given up before the engine answers.
 */
export async function adoptWhenReady(
  options: AdoptOptions &
    Pick<EngineWaitOptions, "mayWait" | "prepare"> & { readonly turns: Pick<Store["turns"], "running"> },
): Promise<EngineWait> {
  const { turns, prepare, mayWait, logger } = options;
  const busy = new Set((await turns.running()).map((turn) => turn.session));
  return EngineWait.begin({
    prepare: async () => {
      await prepare();
      await adoptContainers(options, busy);
    },
    mayWait,
    logger,
  });
}
