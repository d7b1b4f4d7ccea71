import { agentOfSession, isSessionOf } from "../../domain/turns/session.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import { EngineWait } from "../../sandbox/engine/engine-wait.ts";
import { removeStaleMailboxes } from "../../sandbox/mailbox/folders.ts";
import type { Containers } from "./containers.ts";
import { asAgent } from "../as-agent.ts";
import type { AppContext } from "../context.ts";

/** Waits for the engine, and then takes over or removes what an earlier life of the host has left. */
export async function openEngineWait(
  context: AppContext,
  options: { readonly groups: GroupRegistry; readonly containers: Containers; readonly mayWait: boolean },
): Promise<EngineWait> {
  // Asked now: a turn that is given up before the engine is there still had its agent at work.
  const busy = new Set((await context.store.turns.running()).map((turn) => turn.session));
  const prepare = async (): Promise<void> => {
    await options.containers.prepare();
    await reconcile(context, { ...options, busy });
  };
  return EngineWait.begin({ prepare, mayWait: options.mayWait, logger: context.logger });
}

async function reconcile(
  context: AppContext,
  { groups, containers, busy }: { groups: GroupRegistry; containers: Containers; busy: ReadonlySet<string> },
): Promise<void> {
  const { home, store, logger } = context;
  const { pool, jobs } = containers;
  const sessions = await store.sessions.list();
  await pool.reconcile(async (id) => {
    const session = sessions.find((candidate) => candidate.id === id);
    const group = session && groups.byName(session.group);
    if (!group || !isSessionOf(session, group) || session.archivedAt !== undefined) return undefined;
    return { group: asAgent(context, group, agentOfSession(session)), session, busy: busy.has(id) };
  });
  await jobs.settleLost();
  // What was said while they were taken over counts as well.
  for (const session of await store.sessions.list()) await pool.retire(session, "a new conversation has begun");
  const hot = new Set(pool.list().map(({ session, generation }) => `${session}/${generation}`));
  const isHot = (session: string, generation: number): boolean => hot.has(`${session}/${generation}`);
  const left = await removeStaleMailboxes(home.paths.sessions, isHot);
  if (left.length > 0) logger.warn({ folders: left }, "mailboxes of earlier containers could not be removed");
}
