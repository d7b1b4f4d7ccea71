import { isDeepStrictEqual } from "node:util";

import type { Logger } from "pino";

import type { SignsOfLife } from "../../delivery/signs-of-life.ts";
import type { Group } from "../../domain/chats/group.ts";
import { agentOfSession, agentsOf, mainSessionKeys } from "../../domain/turns/session.ts";
import type { WorkSlot } from "../../domain/work/work-slot.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import { toError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { Timers } from "../../lib/time/timers.ts";
import type { EngineWait } from "../../sandbox/engine/engine-wait.ts";
import type { ImageWait } from "../../sandbox/images/image-wait.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { CatchUp } from "../../turns/catch-up.ts";
import type { Compactions } from "../../turns/compaction/compactions.ts";
import type { TurnRunner } from "../../turns/turn-runner.ts";
import { DueWork } from "./due-work.ts";
import { type QueuedSession, SessionQueue } from "./session-queue.ts";

/** Turns at once when the configuration does not limit hot containers. */
const turnsAtOnce = 16;
const failedTurnRetryMs = 5_000;

export interface WorkOptions {
  /** Maximum turns at once; undefined: the default. */
  readonly maxHot: number | undefined;
  readonly store: { readonly work: Pick<Store["work"], "dueSessions" | "nextDueAt"> };
  readonly groups: Pick<GroupRegistry, "byName">;
  readonly runner: Pick<TurnRunner, "run">;
  readonly compactions: Pick<Compactions, "giveWay">;
  /** Carries out the commands that wait in a group's chat, before its next turn. */
  readonly commands: { runLeft(group: Group): Promise<void> };
  readonly catchUp: Pick<CatchUp, "giveUpLate">;
  readonly engineWait: Pick<EngineWait, "ready">;
  readonly imageWait: Pick<ImageWait, "ready">;
  readonly signs: Pick<SignsOfLife, "note">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The queue of sessions, and the timer that wakes those whose work is due. */
export interface WorkQueue {
  readonly queue: SessionQueue;
  readonly dueWork: DueWork;
}

/** Opens the queue. It runs a group's commands first, then gives up what came too late, then runs a turn. */
export function openWork(stack: AsyncDisposableStack, options: WorkOptions): WorkQueue {
  const { maxHot = turnsAtOnce, store, groups, signs, clock, logger } = options;
  const timers = stack.use(new Timers());
  const queue: SessionQueue = stack.use(
    new SessionQueue({
      concurrency: maxHot,
      onChange: ({ session, group: name }, activity) => {
        const group = groups.byName(name);
        // Members wait only for the sessions that answer their chat.
        if (group && mainSessionKeys(group).includes(session)) signs.note(name, activity);
      },
      run: (queued, signal, slot) => runTurn(options, queue, queued, { signal, slot }),
      onError: (queued, error) => {
        logger.error({ error: toError(error), ...queued }, "a turn could not be run; retrying");
        timers.after(failedTurnRetryMs, () => queue.wake(queued));
      },
    }),
  );
  const wake = (queued: QueuedSession): void => queue.wake(queued);
  return { queue, dueWork: stack.use(new DueWork({ work: store.work, wake, clock, logger })) };
}

async function runTurn(
  { groups, runner, compactions, commands, catchUp, engineWait, imageWait }: WorkOptions,
  queue: SessionQueue,
  queued: QueuedSession,
  { signal, slot }: { readonly signal: AbortSignal; readonly slot: WorkSlot },
): Promise<void> {
  using still = new DisposableStack();
  still.use(await compactions.giveWay(queued));
  const group = groups.byName(queued.group);
  if (group) await commands.runLeft(group);
  await engineWait.ready(signal);
  if (!group || !(await imageWait.ready(group, signal, slot))) return;
  await catchUp.giveUpLate(group);
  const more = await runner.run({ group, key: queued.session }, signal, slot);
  if (more) queue.wake({ ...queued, awaited: more === "messages" });
  // The group may have other agents by now, whose messages may have waited for this turn.
  const now = groups.byName(queued.group);
  if (now && !mayShare(agentOfSession({ key: queued.session }), group, now)) queue.wakeGroup(now);
}

/** True when this agent still gets the same messages. */
function mayShare(agent: string, before: Group, now: Group): boolean {
  const agents = agentsOf(now);
  return agents.includes(agent) && isDeepStrictEqual(agentsOf(before), agents);
}
