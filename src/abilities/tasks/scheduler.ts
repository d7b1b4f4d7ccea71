import { setImmediate as nextLoop } from "node:timers/promises";

import type { Logger } from "pino";

import { groupNameFault } from "../../domain/chats/group.ts";
import type { Task, TaskGroup } from "../../domain/work/task.ts";
import type { NewWork } from "../../domain/work/work.ts";
import type { Publish } from "../../domain/events/event.ts";
import { toError } from "../../lib/app-error.ts";
import { PendingWork } from "../../lib/pending-work.ts";
import { type Clock, clockSlackMs } from "../../lib/time/clock.ts";
import { DueTimer } from "../../lib/time/due-timer.ts";
import type { EndedRun, TaskClaim, TaskStore } from "../../stores/contract/task-store.ts";
import { planDue } from "./due-plan.ts";
import { settlementOf } from "./run-ends.ts";
import { dueTimes } from "./timing.ts";

/** Tasks that are read, claimed and forgotten at once, so that any number may be due at a moment. */
const batch = 200;
/** Unfinished runs of a task that makes up for all it has missed: a day of minutes. Of others there is one. */
const mostOpen = 1_440;

export interface SchedulerOptions {
  readonly tasks: Pick<
    TaskStore,
    | "change"
    | "claim"
    | "due"
    | "dueAfter"
    | "ended"
    | "isClaimed"
    | "lastClaimedAt"
    | "nextDueAt"
    | "setState"
    | "settle"
  >;
  /** Returns the task's group with its agent; undefined when its chat has another group, or none. */
  readonly groupNow: (group: TaskGroup) => TaskGroup | undefined;
  /** There is new work. */
  readonly workAdded: () => void;
  readonly deliver: () => void;
  /** Reason of a failed run for the group; undefined when not its business. */
  readonly wordsFor: (run: EndedRun) => string | undefined;
  readonly tellOperator: (text: string) => void;
  readonly publish: Publish<"schedule.claimed" | "schedule.missed" | "schedule.ended" | "schedule.paused">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Starts tasks when due: one timer for the earliest, none without tasks. The store has claims and results; due tasks
 * are claimed in batches, and nothing is kept in memory.
 */
export class Scheduler implements AsyncDisposable {
  readonly #options: SchedulerOptions;
  readonly #pending: PendingWork;
  readonly #lookout: DueTimer;
  /** Turns whose ends are not looked at yet. */
  readonly #endedTurns = new Set<string>();
  /** Anything may have ended. */
  #isBehind = false;
  #settling: Promise<void> | undefined;
  /** Difference between the wall clock and the monotonic clock. */
  #ahead: number | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    const onError = (error: unknown): void =>
      options.logger.error(
        { err: toError(error) },
        "runs of tasks could not be settled; the next end of a turn tries again",
      );
    this.#pending = new PendingWork(onError);
    this.#lookout = new DueTimer({
      look: () => this.#look(),
      onError: (error) =>
        options.logger.error({ err: toError(error) }, "could not look for tasks that are due; retrying"),
    });
  }

  /** Settles what ended in an earlier life of the host, and looks for what is due. */
  start(): void {
    this.runEnded();
    this.changed();
  }

  /** Tasks were made or changed. */
  changed(): void {
    void this.#lookout.changed();
  }

  /** Reports the end of a task's turn. Without one: a task's work may have been dropped, or ended before a restart. */
  runEnded(turn?: string): void {
    if (this.#lookout.isOver) return;
    if (turn === undefined) this.#isBehind = true;
    else this.#endedTurns.add(turn);
    if (this.#settling) return;
    // One at a time: what one settles must not be told by another one, too.
    this.#settling = this.#settle().finally(() => {
      this.#settling = undefined;
    });
    this.#pending.add(this.#settling);
  }

  /** Resolves when what is due has been claimed, and what ended is settled. */
  async idle(): Promise<void> {
    await this.#lookout.idle();
    await this.#pending.done();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lookout[Symbol.dispose]();
    await this.idle();
  }

  /** Milliseconds until the next task is due. */
  async #look(): Promise<number | undefined> {
    const { tasks, clock, workAdded } = this.#options;
    const now = clock.now();
    let next = await tasks.nextDueAt();
    if (next === undefined) return undefined;
    await this.#followClock(now);
    // A run whose work was dropped must not stand in the way of the next one.
    if (next <= now) await this.#settleDropped();
    for (
      next = await tasks.nextDueAt();
      next !== undefined && next <= now && !this.#lookout.isOver;
      next = await tasks.nextDueAt()
    ) {
      await this.#claimDue(await tasks.due(now, batch), now);
      workAdded();
      await nextLoop();
    }
    return next === undefined ? undefined : next - clock.now();
  }

  async #settleDropped(): Promise<void> {
    this.runEnded();
    await this.#settling?.catch(() => undefined);
  }

  async #claimDue(due: readonly Task[], now: number): Promise<void> {
    const { tasks, groupNow } = this.#options;
    const claims: TaskClaim[] = [];
    for (const task of due) {
      const group = groupNow(task.group);
      if (group && groupNameFault(group.name) === undefined) claims.push(await this.#plan({ ...task, group }, now));
      else await this.#pause(task);
    }
    await tasks.claim(claims, now);
  }

  async #plan(task: Task, now: number): Promise<TaskClaim> {
    const { publish } = this.#options;
    const { runs, missed, next } = planDue(
      { ...task, next: task.next ?? now },
      await dueTimes(task.timing, task.timezone),
      now,
    );
    const place = { group: task.group.name, actor: "host" } as const;
    for (const at of runs)
      await publish({ type: "schedule.claimed", ...place, data: { task: task.id, due: at, lateMs: now - at } });
    const open = task.missed === "all" ? mostOpen : 1;
    const claim = { task, runs: runs.map((at) => ({ due: at, work: workOf(task, at, now) })), open, next };
    if (!missed) return claim;
    const { due, count, more } = missed;
    await publish({ type: "schedule.missed", ...place, data: { task: task.id, due, count } });
    const times = count === 1 ? "one due time" : `${count} due times`;
    const reason = `the host was away: ${more ? "at least " : ""}${times} passed by`;
    return { ...claim, missed: { due, reason } };
  }

  async #pause({ id, name, group, next }: Task): Promise<void> {
    const { tasks, publish, tellOperator } = this.#options;
    const reason = "its group is missing anymore";
    await publish({ type: "schedule.paused", group: group.name, actor: "host", data: { task: id, reason } });
    await tasks.setState(id, { state: "paused", reason, next });
    tellOperator(`The task ${id} (${JSON.stringify(name)}) of ${group.name} is paused: ${reason}.`);
  }

  async #settle(): Promise<void> {
    for (let [turn] = this.#endedTurns; this.#isBehind || turn !== undefined; [turn] = this.#endedTurns) {
      if (this.#isBehind) this.#isBehind = (await this.#settleEnded(undefined)) === batch;
      else if (turn !== undefined) {
        await this.#settleEnded(turn);
        this.#endedTurns.delete(turn);
      }
    }
  }

  /** Returns how many were settled. */
  async #settleEnded(turn: string | undefined): Promise<number> {
    let settled = 0;
    for (const run of await this.#options.tasks.ended(batch, turn)) if (await this.#settleOne(run)) settled += 1;
    return settled;
  }

  /** False: it was settled before. */
  async #settleOne(run: EndedRun): Promise<boolean> {
    const { tasks, clock, wordsFor, deliver, publish, workAdded } = this.#options;
    const settlement = settlementOf(run, { at: clock.now(), reason: wordsFor(run) });
    const { state, failures, retryAt, pause } = settlement;
    const { id, group } = run.task;
    const data = { task: id, due: run.due, state, failures, attempts: run.attempts, retryAt };
    await publish({ type: "schedule.ended", group: group.name, turn: run.turn?.id, actor: "host", data });
    if (pause !== undefined)
      await publish({ type: "schedule.paused", group: group.name, actor: "host", data: { task: id, reason: pause } });
    if (!(await tasks.settle(run, settlement))) return false;
    if (settlement.outgoing.length > 0) deliver();
    if (retryAt !== undefined) workAdded();
    return true;
  }

  /** A clock that is set back must neither run a due time twice nor leave what it was ahead without runs. */
  async #followClock(now: number): Promise<void> {
    const { tasks, clock } = this.#options;
    const ahead = now - clock.monotonic();
    const before = this.#ahead ?? ((await tasks.lastClaimedAt()) ?? now) - clock.monotonic();
    this.#ahead = ahead;
    if (ahead > before - clockSlackMs) return;
    for (const task of await tasks.dueAfter(now)) {
      if (task.timing.kind === "at") continue;
      const dueAfter = await dueTimes(task.timing, task.timezone);
      let next = dueAfter(now);
      while (next !== undefined && (await tasks.isClaimed(task.id, next))) next = dueAfter(next);
      if (next === undefined || next >= (task.next ?? 0)) continue;
      await tasks.change(task.id, { timing: task.timing, next });
    }
  }
}

/** Work of one due time: identical however often it is claimed. */
export function workOf(task: Task, due: number, now: number): Omit<NewWork, "group" | "session"> {
  const id = `task:${task.id}:${due}`;
  const { channel, chat } = task.group;
  return {
    id,
    cause: "schedule",
    dueAt: Math.min(due, now),
    dedupe: id,
    replyTo: { kind: "chat", channel, chat },
    origin: task.origin,
    lineage: task.lineage,
    text: task.prompt,
  };
}
