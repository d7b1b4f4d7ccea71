import { randomUUID } from "node:crypto";

import type { Group } from "../domain/chats/group.ts";
import type { StoredMessage } from "../domain/chats/message.ts";
import {
  type Addressee,
  addresseeOf,
  agentOfSession,
  isSessionOf,
  mainSessionKey,
  mainSessionKeys,
  overlaps,
  type Session,
} from "../domain/turns/session.ts";
import type { Turn } from "../domain/turns/turn.ts";
import type { Cause, ReplyTarget } from "../domain/work/work.ts";
import { AppError, isPassing, toError } from "../lib/app-error.ts";
import { backoffMs } from "../lib/time/backoff.ts";
import { sleep } from "../lib/time/sleep.ts";
import type { WorkSlot } from "../domain/work/work-slot.ts";
import { ActiveTurn } from "./active-turn.ts";
import type { TurnOutcome } from "./active-turn.ts";
import { TurnClock } from "./turn-clock.ts";
import { closingStep } from "./ending/closing-step.ts";
import { failureOf } from "./ending/failure-words.ts";
import { type Lineage, unknownLineage } from "../domain/rights/lineage.ts";
import { mayTrigger, refusalToBegin } from "../rights/people/may-begin.ts";
import { answerTo } from "./reply-target.ts";
import { notDone, unlessGone, workStep } from "./steps/collect-messages.ts";
import type { SourcedStep } from "./steps/sourced-step.ts";
import type { TurnCollaborators } from "./collaborators.ts";
import { draftFor } from "./drafts.ts";
import { type RecordedTurnEnd, wordsAtEnd } from "./ending/end-words.ts";
import { turnIdsOf, type TurnScope } from "./turn-scope.ts";

/** Maximum containers per turn: one that dies is replaced until then. */
const containersPerTurn = 2;
/** Over all restarts of the host, so that a turn that brings the host down cannot do so for ever. */
const attemptsPerTurn = 6;
const engineBackoff = { firstMs: 500, longestMs: 15_000 };

/** `parked`: the session waits for people or sub-agents; queued work resumes together with its turn. */
type Left = "left" | "parked";

/** Work still due in a session. */
type More = "messages" | "work" | undefined;

/** Place of work on a turn. */
type Where = Pick<
  TurnScope,
  "group" | "session" | "place" | "lease" | "settings" | "models" | "hears" | "fault" | "refusal"
>;

/** Runs turns: at most one per session at a time, which the queue sees to. */
export class TurnRunner {
  readonly #parts: TurnCollaborators;
  /**
   * By group, what each of its sessions takes of its messages: where agents change meanwhile, one that would take the
   * same comes after it.
   */
  readonly #hearing = new Map<string, Map<string, Addressee>>();

  constructor(parts: TurnCollaborators) {
    this.#parts = parts;
  }

  /** Resumes the session's unfinished turn, or starts one if work is due. Returns the work still due. */
  async run(
    { group, key }: { readonly group: Group; readonly key: string },
    signal: AbortSignal,
    place: WorkSlot,
  ): Promise<More> {
    const session = await this.#sessionOf(group, key);
    if (!session) return undefined;
    using hearing = this.#hear(group, session);
    const held = await this.#parts.leases.hold(session.id);
    if (!held) throw new AppError("fenced", `Another host is working on session ${session.id}; checking again later.`);
    using lease = held;
    using models = this.#parts.models.hold();
    const { hears } = hearing;
    const { lease: fence } = lease;
    const where = {
      ...(await this.#parts.groups.forSession(group, session)),
      session,
      place,
      lease: fence,
      models,
      hears,
    };
    const untilLost = AbortSignal.any([signal, lease.lost]);
    const unfinished = await this.#parts.store.turns.runningIn(session.id);
    if (unfinished && (await this.#waits(unfinished, where))) return undefined;
    if (unfinished) {
      using still = new DisposableStack();
      still.use(this.#parts.active.add(unfinished.id));
      const scope = { ...(await this.#behind(where, unfinished.lineage)), turn: unfinished, clock: this.#newClock() };
      const messages = await this.#parts.store.messages.ofTurn(unfinished.id);
      if ((await this.#workToTheEnd(scope, messages, untilLost)) === "parked") return undefined;
    } else if ((await this.#begin(where, untilLost)) !== "left") return undefined;
    return await this.#more(where);
  }

  /** A message goes to one session at a time, so that no two agents answer the same one that is for one of them. */
  #hear(group: Group, { id, key }: Session): Disposable & { readonly hears: Addressee | undefined } {
    const agent = agentOfSession({ key });
    const wanted = key === mainSessionKey({ ...group, agent }) ? addresseeOf(group, agent) : undefined;
    const others = this.#hearing.get(group.name) ?? new Map<string, Addressee>();
    const hears = wanted && ![...others.values()].some((other) => overlaps(other, wanted)) ? wanted : undefined;
    if (hears) this.#hearing.set(group.name, others.set(id, hears));
    return {
      hears,
      [Symbol.dispose]: () => {
        if (hears) others.delete(id);
        if (others.size === 0) this.#hearing.delete(group.name);
      },
    };
  }

  /** Tells people who speak meanwhile that the turn waits, once. */
  async #waits(turn: Turn, { group, hears }: Where): Promise<boolean> {
    const { store, clock, answers } = this.#parts;
    const open = (await store.approvals.ofTurn(turn.id)).filter(({ state }) => state === "open");
    const awaited = open.length > 0 ? [] : await store.subAgents.awaitedBy(turn.id);
    if (open.length + awaited.length === 0) return false;
    if (!hears || (await store.messages.waitingCount(group, hears)) === 0) return true;
    const until =
      open.length > 0
        ? `${open.map(({ code }) => code).join(", ")} has been answered`
        : `my sub-agents are done (${awaited.map(({ id }) => id).join(", ")})`;
    const text = `I go on when ${until}, and look at what you wrote then. /stop ends it.`;
    const notice = draftFor(group, { kind: "notice", text, inReplyTo: [], turn: turn.id });
    const asked = open.length > 0 ? store.approvals : store.subAgents;
    if (await asked.tellWaiting(turn.id, [notice], clock.now())) answers.deliver();
    return true;
  }

  /**
   * The main session of each of a group's agents is made when it is first needed; the others exist when they have work.
   */
  async #sessionOf(group: Group, key: string): Promise<Session | undefined> {
    const { sessions } = this.#parts.store;
    if (mainSessionKeys(group).includes(key)) return sessions.open(key, group.name);
    const session = await sessions.find(key);
    return session && isSessionOf(session, group) && session.archivedAt === undefined ? session : undefined;
  }

  async #more({ group, session: { id }, hears }: Where): Promise<More> {
    const { messages, work } = this.#parts.store;
    if (hears && (await messages.waitingCount(group, hears)) > 0) return "messages";
    return (await work.due(id, this.#parts.clock.now())) && "work";
  }

  async #begin(where: Where, signal: AbortSignal): Promise<Left | "nothing"> {
    const { store, clock } = this.#parts;
    const { group, session } = where;
    const due = await this.#due(where);
    if (!due) return "nothing";
    const place = await this.#behind(where, due.lineage);
    const at = clock.now();
    const id = randomUUID();
    using still = new DisposableStack();
    still.use(this.#parts.active.add(id));
    const { cause, replyTo } = due;
    const { id: of, conversation } = session;
    const turn = { id, session: of, group: group.name, conversation, cause, replyTo, at };
    const begun = await unlessGone(store.turns.begin(turn, due.step, where.lease));
    if (!begun) return "left";
    const turnClock = this.#newClock();
    // The clock may have been set back.
    turnClock.add("queue", Math.max(0, at - due.since));
    const scope = { ...place, turn: begun.turn, clock: turnClock, firstStep: begun.step };
    return await this.#workToTheEnd(scope, due.messages, signal);
  }

  /** The oldest of what is due in the session; of a message and other work of the same moment, the message. */
  async #due(where: Where): Promise<DueWork | undefined> {
    const { group, session, settings, hears } = where;
    const work = await this.#parts.store.work.due(session.id, this.#parts.clock.now());
    const collected = await this.#parts.conversation.collect({ group, settings, hears, begins: true }, () => session);
    const since = collected?.waiting[0]?.receivedAt ?? Infinity;
    if (collected && (!work || since <= work.dueAt)) {
      const { step, waiting } = collected;
      const lineage = step.takes?.lineage ?? unknownLineage;
      return { cause: "message", replyTo: chatOf(group), since, step, lineage, messages: waiting };
    }
    if (!work) return undefined;
    const { cause, replyTo, dueAt: due, lineage } = work;
    // Words of somebody who is not heard do not get into the conversation.
    const refusal = refusalToBegin(this.#parts.hearingOf, group, lineage);
    const shown = refusal === undefined ? work : { ...work, text: notDone(refusal), payload: undefined };
    return { cause, replyTo, since: due, step: workStep(shown, where, this.#parts), lineage, messages: [] };
  }

  /** Returns the place for a turn of this lineage: narrowed, or with a fault where somebody is not heard. */
  async #behind(where: Where, lineage: Lineage): Promise<Where> {
    const { group, settings } = where;
    const refusal = refusalToBegin(this.#parts.hearingOf, group, lineage);
    const narrowed = await this.#parts.groups.narrow(settings, lineage.narrowed);
    return { ...where, ...narrowed, ...(refusal && { refusal, fault: refusal }) };
  }

  #newClock(): TurnClock {
    return new TurnClock(() => this.#parts.clock.monotonic());
  }

  async #workToTheEnd(scope: TurnScope, messages: readonly StoredMessage[], signal: AbortSignal): Promise<Left> {
    const resumed = scope.firstStep === undefined;
    this.#parts.watchers.began(scope, messages);
    const told = { messages: messages.map(({ id }) => id), senders: messages.map(({ sender }) => sender.id) };
    await this.#parts.publish({ type: "turn.started", ...turnIdsOf(scope), actor: "host", data: { resumed, ...told } });
    const outcome = await this.#drive(scope, resumed, signal).catch((error: unknown): TurnOutcome => {
      if (isPassing(error)) throw error;
      const failed = toError(error);
      return { kind: "ended", state: "failed", text: failed.message, failure: failureOf(failed) };
    });
    if (outcome.kind === "suspended" || outcome.kind === "troubled") return "left";
    // It may have been ended in the store while it was being parked.
    if (outcome.kind === "parked" && !this.#parts.active.wasEnded(scope.turn)) {
      this.#parts.watchers.parked(scope);
      return "parked";
    }
    await this.#finish(scope, endOf(outcome));
    return "left";
  }

  /**
   * Runs the turn in containers, in a second one when the first one dies. Trouble of the machine, such as a full disk,
   * keeps the turn for later.
   */
  async #drive(scope: TurnScope, resumed: boolean, signal: AbortSignal): Promise<TurnOutcome> {
    const { pool, logger } = this.#parts;
    const { turn, session, fault } = scope;
    if (fault !== undefined) return { kind: "ended", state: "failed", text: fault };
    let outcome: TurnOutcome = { kind: "suspended" };
    let isResumed = resumed;
    for (let lost = 0; lost < containersPerTurn && !signal.aborted;) {
      outcome = await this.#attempt(scope, isResumed, signal);
      isResumed = true;
      if (outcome.kind !== "lost" && outcome.kind !== "troubled") return outcome;
      logger.warn({ turn: turn.id, reason: outcome.reason }, "a container could not continue a turn");
      if (outcome.kind === "lost") lost += 1;
      else await pool.stop(session.id, outcome.reason);
      await this.#parts.machine.untilWritable(signal);
    }
    return outcome;
  }

  async #attempt(scope: TurnScope, isResumed: boolean, signal: AbortSignal): Promise<TurnOutcome> {
    const { turn, session } = scope;
    if (this.#parts.active.wasEnded(turn)) return endedMeanwhile;
    const attempts = isResumed ? await this.#parts.store.turns.addAttempt(turn.id, scope.lease) : 1;
    if (attempts > attemptsPerTurn)
      throw new AppError("container_lost", `It was tried ${attemptsPerTurn} times and never finished.`);
    if (this.#parts.active.wasEnded(turn)) return endedMeanwhile;
    try {
      return await this.#workWhenEngineAnswers(scope, isResumed, signal);
    } finally {
      this.#parts.active.left(session.id);
    }
  }

  /** An engine that is away is waited for: the turn is kept, not failed. */
  async #workWhenEngineAnswers(scope: TurnScope, resumed: boolean, signal: AbortSignal): Promise<TurnOutcome> {
    for (let failures = 1; ; failures += 1) {
      const active = new ActiveTurn(scope, this.#parts, resumed);
      this.#parts.active.began(scope.session.id, active);
      try {
        return await active.work(signal);
      } catch (error) {
        if (error instanceof AppError && error.code === "container_lost")
          return { kind: "lost", reason: error.message };
        if (isPassing(error)) return { kind: "troubled", reason: toError(error).message };
        if (!(error instanceof AppError) || error.code !== "engine_unavailable") throw error;
        const delayMs = backoffMs(engineBackoff, failures);
        this.#parts.logger.warn(
          { reason: error.message, retryInMs: delayMs },
          "the container engine is unavailable; the turn waits",
        );
        await sleep(delayMs, signal);
        if (signal.aborted) return { kind: "suspended" };
        if (active.cancelled) return { kind: "ended", state: active.cancelled.state, text: active.cancelled.reason };
      }
    }
  }

  async #finish(scope: TurnScope, end: RecordedTurnEnd): Promise<void> {
    const { store, clock, publish, answers, calls } = this.#parts;
    const { turn } = scope;
    const all = await store.messages.ofTurn(turn.id);
    const [messages, waitAgain] = this.#parted(all, scope);
    const at = clock.now();
    // The clock may have been set back.
    const elapsedMs = Math.max(0, at - (messages[0]?.receivedAt ?? turn.startedAt));
    const { kind, text, silent } = wordsAtEnd(answers, end, scope);
    const answer = answerTo(scope, { kind, text, messages, elapsedMs, at });
    const reason = end.state === "done" ? undefined : end.text;
    const steps = end.state === "done" ? [] : [closingStep(end.text, at)];
    scope.clock.enter(undefined);
    const times = scope.clock.times();
    const asks = await calls.reviewsOf(scope.group);
    const rows = await store.turns.finish(
      turn.id,
      { state: end.state, reason, times, at, steps, asks, waitAgain, ...answer },
      scope.lease,
    );
    await calls.reviewsAsked(asks, rows !== undefined);
    if (rows) answers.deliver();
    if (rows && answer.work.length > 0) answers.workAdded();
    // A command may have ended it in the store while its container still worked: that end counts.
    const ended = rows ? { state: end.state, reason } : await store.turns.get(turn.id);
    if (ended && ended.state !== "running") {
      this.#parts.watchers.ended(scope);
      const data = { state: ended.state, reason: ended.reason, elapsedMs, times, ...(silent && { silent }) };
      await publish({ type: "turn.ended", ...turnIdsOf(scope), actor: "host", data });
    }
  }

  /** Messages that end with the turn, and those that wait again: of a refused turn, what people who are heard wrote. */
  #parted(
    messages: readonly StoredMessage[],
    { group, refusal }: TurnScope,
  ): readonly [readonly StoredMessage[], readonly number[]] {
    if (refusal === undefined) return [messages, []];
    const isHeard = ({ channel, sender: { id } }: StoredMessage): boolean =>
      mayTrigger(this.#parts.hearingOf, group, { channel, id });
    return [messages.filter((message) => !isHeard(message)), messages.filter(isHeard).map(({ seq }) => seq)];
  }
}

/** Work that begins a turn. */
interface DueWork {
  readonly cause: Cause;
  readonly replyTo: ReplyTarget;
  /** Since when it has been due. */
  readonly since: number;
  readonly step: SourcedStep;
  readonly lineage: Lineage;
  readonly messages: readonly StoredMessage[];
}

function chatOf({ channel, chat }: Group): ReplyTarget {
  return { kind: "chat", channel, chat };
}

function endOf(outcome: Exclude<TurnOutcome, { kind: "suspended" | "troubled" }>): RecordedTurnEnd {
  if (outcome.kind === "parked") return endedMeanwhile;
  return outcome.kind === "lost" ? lostTwice(outcome.reason) : outcome;
}

const endedMeanwhile: Extract<TurnOutcome, { kind: "ended" }> = {
  kind: "ended",
  state: "cancelled",
  text: "It was ended.",
};

/**
 * End for broken mailbox rules. Details are only logged: they quote the container, whose words would pass for the
 * host's, and replaced secrets would confirm a guess.
 */
function lostTwice(cause: string): RecordedTurnEnd {
  const [, quotes] = /^(mailbox violation|a message of the agent could not be read)\b/.exec(cause) ?? [];
  const reason = quotes ?? cause;
  const text = `the agent's container ended ${containersPerTurn} times while it worked (last: ${reason}). The message is kept; the operator can try again with "crabpot turns retry".`;
  return { state: "failed", text, failure: "container_lost" };
}
