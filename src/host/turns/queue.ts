import { isDeepStrictEqual } from "node:util";

import type { SignsOfLife } from "../../delivery/signs-of-life.ts";
import type { Group } from "../../domain/chats/group.ts";
import { agentOfSession, agentsOf, isSessionOf, mainSessionKeys } from "../../domain/turns/session.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import { toError } from "../../lib/app-error.ts";
import { Timers } from "../../lib/time/timers.ts";
import { DueWork } from "../../work/queue/due-work.ts";
import { mainSessionsOf, SessionQueue } from "../../work/queue/session-queue.ts";
import type { EngineWait } from "../../sandbox/engine/engine-wait.ts";
import type { Compactions } from "../../turns/compaction/compactions.ts";
import type { TurnRunner } from "../../turns/turn-runner.ts";
import type { Approvals } from "../people/approvals.ts";
import type { Capabilities } from "../capabilities/capabilities.ts";
import type { ImageWait } from "../../sandbox/images/image-wait.ts";
import type { AppContext } from "../context.ts";
import type { Interventions } from "./interventions.ts";

/** When the configuration does not say. */
const turnsAtOnce = 16;
const failedTurnRetryMs = 5_000;

/** Due work, and its runners. */
export interface WorkQueue {
  readonly queue: SessionQueue;
  readonly dueWork: DueWork;
}

/** From what is due to turns: commands first, then what came too late, then a turn. */
export function createWork(
  { config, store, clock, logger }: AppContext,
  stack: AsyncDisposableStack,
  options: {
    readonly groups: GroupRegistry;
    readonly runner: TurnRunner;
    readonly interventions: Interventions;
    readonly compactions: Pick<Compactions, "giveWay">;
    readonly signs: SignsOfLife;
    readonly engineWait: EngineWait;
    readonly imageWait: ImageWait;
  },
): WorkQueue {
  const { groups, runner, interventions, signs, engineWait, imageWait, compactions } = options;
  const timers = stack.use(new Timers());
  const queue: SessionQueue = stack.use(
    new SessionQueue({
      concurrency: config.sessions.maxHot ?? turnsAtOnce,
      onChange: ({ session, group: name }, activity) => {
        const group = groups.byName(name);
        // What a group's other sessions do is nobody's wait for an answer.
        if (group && mainSessionKeys(group).includes(session)) signs.note(name, activity);
      },
      run: async (queued, signal, place) => {
        using still = new DisposableStack();
        still.use(await compactions.giveWay(queued));
        const group = groups.byName(queued.group);
        if (group) await interventions.runLeftCommands(group);
        await engineWait.ready(signal);
        if (!group || !(await imageWait.ready(group, signal, place))) return;
        await interventions.giveUpLate(group);
        const more = await runner.run({ group, key: queued.session }, signal, place);
        if (more) queue.wake({ ...queued, awaited: more === "messages" });
        // The group has got other agents meanwhile, whose messages may have waited for this turn.
        const now = groups.byName(queued.group);
        if (now && !mayShare(agentOfSession({ key: queued.session }), group, now)) wakeAll(now);
      },
      onError: (queued, error) => {
        logger.error({ error: toError(error), ...queued }, "a turn could not be run; retrying");
        timers.after(failedTurnRetryMs, () => queue.wake(queued));
      },
    }),
  );
  const wakeAll = (group: Group): void => mainSessionsOf(group).forEach((queued) => queue.wake(queued));
  const dueWork = stack.use(new DueWork({ work: store.work, wake: (queued) => queue.wake(queued), clock, logger }));
  return { queue, dueWork };
}

/** True when this agent still gets the same messages. */
function mayShare(agent: string, before: Group, now: Group): boolean {
  const agents = agentsOf(now);
  return agents.includes(agent) && isDeepStrictEqual(agentsOf(before), agents);
}

/** Goes on with what was unfinished and with what people have answered, in the groups that are still registered. */
export async function resume(
  { store }: AppContext,
  groups: GroupRegistry,
  {
    queue,
    dueWork,
    desk,
    subAgents,
    compactions,
  }: WorkQueue &
    Pick<Approvals, "desk"> &
    Pick<Capabilities, "subAgents"> & { readonly compactions: Pick<Compactions, "resume"> },
): Promise<void> {
  const sessions = new Map((await store.sessions.list()).map((session) => [session.id, session]));
  for (const turn of await store.turns.running()) {
    const session = sessions.get(turn.session);
    const group = groups.byName(turn.group);
    if (session && group && isSessionOf(session, group)) {
      const awaited = turn.cause === "message";
      queue.wake({ session: session.key, group: group.name, awaited });
    }
  }
  for (const name of await store.messages.waitingGroups()) {
    const group = groups.byName(name);
    if (group) for (const queued of mainSessionsOf(group)) queue.wake(queued);
  }
  await compactions.resume();
  dueWork.changed();
  desk.changed();
  subAgents.desk.changed();
}
