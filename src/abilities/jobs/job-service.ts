import type { Logger } from "pino";

import type { Lineage } from "../../domain/rights/lineage.ts";
import type { Job, JobEnd } from "../../domain/work/job.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { Timers } from "../../lib/time/timers.ts";
import type { ContainerRun } from "../../sandbox/pool/pool-options.ts";
import type { SessionPool } from "../../sandbox/pool/pool.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { ToolCall } from "../../domain/turns/model.ts";
import { mayAct } from "../../domain/rights/may-act.ts";
import type { AbilityService, CallingTurn } from "../define-ability.ts";
import { stopRefusal, stopRights } from "./job-rights.ts";
import { formatSpan, jobWork, jobWorkId, type JobOwner } from "./job-work.ts";

/** An agent's report on a job. */
export type JobReport =
  | { readonly type: "job-started"; readonly turn: string; readonly job: string; readonly command: string }
  | {
      readonly type: "job-ended";
      readonly job: string;
      readonly outcome: "exited" | "stopped" | "expired";
      readonly exitCode?: number | undefined;
      readonly output: string;
      readonly toldModel: boolean;
    };

export interface JobServiceOptions {
  readonly store: Pick<Store["jobs"], "begin" | "end" | "running">;
  /** Maximum number and duration of a session's jobs. */
  readonly limits: (group: string) => { readonly atOnce: number; readonly seconds: number };
  /** Returns the lineage of a turn of this group, as it is now. */
  readonly lineageOf: (group: string, turn: string) => Promise<Lineage>;
  readonly ownerOf: (job: Job) => Promise<JobOwner>;
  /** Containers of sessions; one with jobs does not idle. */
  readonly pool: Pick<SessionPool, "hold" | "letRest" | "stop" | "stopJob">;
  readonly workAdded: () => void;
  readonly publish: Publish<"job.started" | "job.ended" | "agent.overstepped" | "limit.reached">;
  readonly graceMs?: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Running {
  readonly job: Job;
  /** Until it has run for too long. */
  readonly timer: Disposable;
  /** Reason for ending it from here, if any. */
  ending: { readonly state: "stopped" | "expired"; readonly reason: string } | undefined;
  /** Resolves when its end is on record. */
  readonly ended: PromiseWithResolvers<void>;
  isClosing: boolean;
}

/** Time for an agent to end a job itself, before it is told to, and before its container is ended. */
const longestGraceMs = 15_000;

/**
 * Background jobs of all sessions: agents' reports, checked against their limits. An agent that lies about its jobs can
 * only keep its container from idling, for a job's maximum time.
 */
export class JobService implements AbilityService {
  readonly #options: JobServiceOptions;
  readonly #timers = new Timers();
  /** By session, then by id. */
  readonly #running = new Map<string, Map<string, Running>>();
  /** Work that ends of jobs have made, for the turn that started them, if that is still at work: by session. */
  readonly #news = new Map<string, { readonly turn: string; readonly work: readonly string[] }>();
  /** Containers whose agent was reported for exceeding its rights. */
  readonly #overstepped = new Map<string, number>();

  constructor(options: JobServiceOptions) {
    this.#options = options;
  }

  /** Stops all timers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#timers[Symbol.dispose]();
  }

  /** Number of running jobs in the session, or in all. */
  count(session?: string): number {
    if (session !== undefined) return this.#running.get(session)?.size ?? 0;
    return [...this.#running.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Those that run in sessions of this group, oldest first. */
  ofGroup(group: string): readonly Job[] {
    const all = [...this.#running.values()].flatMap((jobs) => [...jobs.values()].map(({ job }) => job));
    return all.filter((job) => job.group === group).toSorted((one, other) => one.startedAt - other.startedAt);
  }

  /** Takes in what an agent says; `turn` is the one that its container works on. Resolves when it is on record. */
  async report(place: ContainerRun, report: JobReport, turn: string | undefined): Promise<void> {
    if (report.type === "job-started") return this.#started(place, report, turn);
    const running = this.#find(place, report.job);
    if (!running) return;
    const { ending } = running;
    const { outcome: state, exitCode, output, toldModel } = report;
    const end =
      state === "exited"
        ? { state }
        : { state: ending?.state ?? state, reason: ending?.reason ?? whyEnded(running.job, state, this.#options) };
    const isKnown = toldModel && state === "stopped" && ending === undefined;
    await this.#close(running, { ...end, at: this.#options.clock.now(), exitCode }, isKnown ? undefined : output);
  }

  /** A container of an earlier life of the host is taken over, with what runs in it. */
  async adopted(place: ContainerRun): Promise<void> {
    for (const job of await this.#options.store.running(place.session)) {
      if (job.generation === place.generation) this.#watch(job);
    }
  }

  /** A container has ended, and its jobs with it. */
  async gone({ session, generation }: ContainerRun, reason: string): Promise<void> {
    this.#overstepped.delete(session);
    const lost = [...(this.#running.get(session)?.values() ?? [])].filter(({ job }) => job.generation === generation);
    for (const running of lost) {
      const { state, reason: why } = running.ending ?? {
        state: "lost" as const,
        reason: `its container has ended: ${reason}`,
      };
      await this.#close(running, { state, reason: why, at: this.#options.clock.now() }, "");
    }
  }

  /** Settles jobs of lost containers, once all remaining containers are known. */
  async settleLost(): Promise<void> {
    for (const job of await this.#options.store.running()) {
      if (this.#find(job, job.id)) continue;
      const reason = "its container was gone when the host started";
      await this.#close(this.#watch(job), { state: "lost", reason, at: this.#options.clock.now() }, "");
    }
  }

  /**
   * Returns why a turn may not make this call of a tool, in words for the model: one that stops a job is judged by the
   * same rights as the command in the chat. Undefined: it may.
   */
  async refusalOf(
    { group, session, turn }: Pick<CallingTurn, "group" | "session" | "turn">,
    { name, input }: Pick<ToolCall, "name" | "input">,
  ): Promise<string | undefined> {
    const { action, id } = (input ?? {}) as { readonly action?: unknown; readonly id?: unknown };
    if (name !== "jobs" || action !== "stop" || typeof id !== "string") return undefined;
    const job = this.#running.get(session.id)?.get(id)?.job;
    if (!job) return undefined;
    const { role, people } = await this.#options.lineageOf(group.name, turn.id);
    const asker = { group: group.name, reachesAll: false, role, people: people.map((key) => [key]) };
    return mayAct(asker, stopRights, job) === "allowed" ? undefined : stopRefusal;
  }

  /** Ends a job by request. Resolves when its end is recorded; false when it is not running. */
  async stop({ session, id }: Pick<Job, "session" | "id">, by: string): Promise<boolean> {
    const running = this.#running.get(session)?.get(id);
    if (!running) return false;
    await this.#end(running, { state: "stopped", reason: `stopped by ${by}` });
    return true;
  }

  /** Returns work ids that the turn may be told now, because its own jobs made them. Each is returned once. */
  takeNews(session: string, turn: string): readonly string[] {
    const news = this.#news.get(session);
    if (news?.turn !== turn) return [];
    this.#news.delete(session);
    return news.work;
  }

  async #started(
    place: ContainerRun,
    { job: id, turn: claimed, command }: Extract<JobReport, { type: "job-started" }>,
    turn: string | undefined,
  ): Promise<void> {
    if (this.#find(place, id)) return;
    const { atOnce } = this.#options.limits(place.group);
    if (turn !== claimed)
      return this.#overstep(place, "It announced a background job outside the turn that it worked on.");
    if (this.count(place.session) >= atOnce)
      return this.#overstep(place, `It announced more background jobs than the ${atOnce} that it may have.`);
    const { session, group, generation } = place;
    const lineage = await this.#options.lineageOf(group, turn);
    const job = { id, group, session, generation, turn, command, startedAt: this.#options.clock.now(), lineage };
    const data = { id, command: command.length };
    await this.#options.publish({ type: "job.started", group, session, turn, actor: "agent", data });
    // One that is known is over, or another container's: its name is no use anymore.
    if (!(await this.#options.store.begin(job))) return this.#overstep(place, "It used the id of a job again.");
    this.#watch({ ...job, state: "running", endedAt: undefined, exitCode: undefined, reason: undefined });
  }

  #watch(job: Job): Running {
    const { seconds } = this.#options.limits(job.group);
    const jobs = this.#running.get(job.session) ?? new Map<string, Running>();
    this.#running.set(job.session, jobs);
    const { clock, graceMs = longestGraceMs } = this.#options;
    const wholeMs = seconds * 1_000 + graceMs;
    // The clock may have been set back.
    const leftMs = Math.min(wholeMs, Math.max(0, job.startedAt + wholeMs - clock.now()));
    const timer = this.#timers.after(leftMs, () => {
      const reason = whyEnded(job, "expired", this.#options);
      this.#end(running, { state: "expired", reason }).catch((error: unknown) => this.#failed(job, error));
    });
    const running: Running = { job, timer, ending: undefined, ended: Promise.withResolvers(), isClosing: false };
    jobs.set(job.id, running);
    this.#options.pool.hold(job.session);
    return running;
  }

  /** Asks the agent first, then ends its container. */
  async #end(running: Running, ending: NonNullable<Running["ending"]>): Promise<void> {
    const { job, ended } = running;
    running.ending ??= ending;
    if (!(await this.#options.pool.stopJob(job.session, job.id)))
      return this.#close(running, { ...ending, at: this.#options.clock.now() }, "");
    const late = this.#timers.after(this.#options.graceMs ?? longestGraceMs, () => {
      const reason = `background job ${job.id} did not end when it was told to`;
      this.#options.pool.stop(job.session, reason).catch((error: unknown) => this.#failed(job, error));
    });
    await ended.promise;
    late[Symbol.dispose]();
  }

  /** Closes a job. `output`: end of its output, for the agent; undefined when the agent has it. */
  async #close(running: Running, end: JobEnd, output: string | undefined): Promise<void> {
    if (running.isClosing) return running.ended.promise;
    running.isClosing = true;
    const { job } = running;
    const { store, publish, ownerOf } = this.#options;
    const { group, session, turn } = job;
    const place = { group, session, turn };
    const { state, exitCode, reason } = end;
    const elapsedMs = Math.max(0, end.at - job.startedAt);
    const data = { id: job.id, state, exitCode, reason, elapsedMs };
    try {
      await publish({ type: "job.ended", ...place, actor: state === "exited" ? "agent" : "host", data });
      const work = output === undefined ? undefined : jobWork(job, { ...end, output }, await ownerOf(job));
      const done = await store.end(job, end, work);
      if (done?.addedWork === true) this.#addNews(job);
      if (state === "expired") await this.#tellLimit(job);
    } finally {
      this.#forget(running);
    }
  }

  #addNews(job: Job): void {
    const news = this.#news.get(job.session);
    const earlier = news?.turn === job.turn ? news.work : [];
    this.#news.set(job.session, { turn: job.turn, work: [...earlier, jobWorkId(job)] });
    this.#options.workAdded();
  }

  async #tellLimit({ group, session, turn }: Job): Promise<void> {
    const { seconds } = this.#options.limits(group);
    const text = `A background job had run for as long as it may: ${formatSpan(seconds * 1_000)}.`;
    const data = { limit: "job-time", value: seconds, text };
    await this.#options.publish({ type: "limit.reached", group, session, turn, actor: "agent", data });
  }

  #forget(running: Running): void {
    const { session, id } = running.job;
    running.timer[Symbol.dispose]();
    const jobs = this.#running.get(session);
    jobs?.delete(id);
    if (jobs?.size === 0) this.#running.delete(session);
    running.ended.resolve();
    if (this.count(session) === 0) this.#options.pool.letRest(session);
  }

  #find({ session, generation }: ContainerRun, id: string): Running | undefined {
    const running = this.#running.get(session)?.get(id);
    return running?.job.generation === generation ? running : undefined;
  }

  /** Told once in the life of a container: an agent may say such things as often as it likes. */
  async #overstep({ session, group, generation }: ContainerRun, reason: string): Promise<void> {
    if (this.#overstepped.get(session) === generation) return;
    this.#overstepped.set(session, generation);
    await this.#options.publish({ type: "agent.overstepped", group, session, actor: "agent", data: { reason } });
  }

  #failed({ id, session }: Job, error: unknown): void {
    this.#options.logger.error({ error, job: id, session }, "a background job could not be ended");
  }
}

function whyEnded(
  job: Job,
  state: "stopped" | "expired",
  { limits, clock }: Pick<JobServiceOptions, "limits" | "clock">,
): string {
  if (state === "stopped") return "stopped by its agent";
  const ms = Math.min(limits(job.group).seconds * 1_000, clock.now() - job.startedAt);
  return `it had run for as long as it may, ${formatSpan(ms)}`;
}
