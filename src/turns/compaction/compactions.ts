import type { Logger } from "pino";

import { isCompactionDue, type PromptSize } from "../context/compaction/limits.ts";
import type { Group } from "../../domain/chats/group.ts";
import { isSessionOf, type Session } from "../../domain/turns/session.ts";
import type { Lease } from "../../domain/turns/lease.ts";
import type { CompactionRequest } from "../../domain/turns/summary.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import { PendingWork } from "../../lib/pending-work.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ModelCalls } from "../../models/model-calls.ts";
import { Timers } from "../../lib/time/timers.ts";
import { sessionId } from "../../stores/contract/session-store.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { SessionLeases } from "../sessions/session-leases.ts";
import { answering, draftFor } from "../drafts.ts";
import type { SessionGroups, TurnModels } from "../collaborators.ts";
import type { ConversationScope, SessionGroup } from "../turn-scope.ts";
import {
  type CompactionCause,
  type CompactionOutcome,
  type Compactor,
  limitsFor,
  contextLimitsOf,
} from "./compactor.ts";
import { describeCompaction } from "./describe-outcome.ts";
import { type ShownConversations, tokensOfConversation } from "./shown-conversation.ts";

export interface CompactionsOptions {
  readonly store: {
    readonly sessions: Pick<Store["sessions"], "get">;
    readonly turns: Pick<Store["turns"], "get" | "runningIn">;
    readonly messages: Pick<Store["messages"], "withSeqs">;
    readonly summaries: Pick<Store["summaries"], "requests" | "settleRequest">;
  };
  readonly leases: Pick<SessionLeases, "hold">;
  readonly shown: Pick<ShownConversations, "of" | "lastStep">;
  readonly compactor: Pick<Compactor, "compact">;
  readonly groupOf: (name: string) => Group | undefined;
  readonly sessionGroups: SessionGroups;
  readonly models: TurnModels;
  /** Work before a summary replaces messages. Never rejects. */
  readonly before: (group: Group, signal: AbortSignal) => Promise<void>;
  readonly deliver: () => void;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
  /** Time that a session must rest before. */
  readonly restMs?: number | undefined;
}

const usualRestMs = 200;
/** A model that says nothing for so long has failed; one that says something for ever is ended. */
const longestMs = 5 * 60_000;

interface Place extends SessionGroup {
  readonly session: Session;
}

interface Working {
  readonly group: string;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

/**
 * Compacts conversations while nobody waits: after a turn when they are large, or on request. People go first: a
 * running compaction is abandoned when the session has work, and repeated later.
 */
export class Compactions implements AsyncDisposable {
  readonly #options: CompactionsOptions;
  /** Sessions to compact, and their groups. */
  readonly #due = new Map<string, string>();
  readonly #requests = new Map<string, CompactionRequest>();
  readonly #working = new Map<string, Working>();
  readonly #resting = new Map<string, Disposable>();
  /** Sessions in which the queue runs something. */
  readonly #occupied = new Set<string>();
  /** By group: how often nothing of it may begin. */
  readonly #held = new Map<string, number>();
  readonly #timers = new Timers();
  readonly #pending: PendingWork;
  #isOver = false;

  constructor(options: CompactionsOptions) {
    this.#options = options;
    this.#pending = new PendingWork((error) =>
      options.logger.warn({ err: toError(error) }, "a conversation could not be compacted; retrying later"),
    );
  }

  /** A model has answered in this turn. What is put aside after its work is not worth it. */
  answered(scope: ConversationScope, size: PromptSize): void {
    const { id, kind, ephemeral } = scope.session;
    if (kind === "agent" || ephemeral === true) return;
    if (isCompactionDue(size, contextLimitsOf(scope))) this.#due.set(id, scope.group.name);
    else this.#due.delete(id);
  }

  /** The session has something to do: what is under way is given up until the result is disposed of. */
  async giveWay({ session: key, group }: { readonly session: string; readonly group: string }): Promise<Disposable> {
    const id = sessionId(key);
    this.#occupied.add(id);
    this.#resting.get(id)?.[Symbol.dispose]();
    await this.#end(id, "somebody waits");
    return {
      [Symbol.dispose]: () => {
        this.#occupied.delete(id);
        if (this.#due.has(id) || this.#requests.has(id)) this.#restBefore(id, group);
      },
    };
  }

  /** True when a requested compaction is unanswered. */
  isAsked(session: string): boolean {
    return this.#requests.has(session);
  }

  /** Looks for what people have asked for. */
  async resume(): Promise<void> {
    for (const request of await this.#options.store.summaries.requests()) {
      this.#requests.set(request.session, request);
      if (!this.#occupied.has(request.session)) this.#restBefore(request.session, request.group);
    }
  }

  /** Gives up what is under way in a group, and what was asked for there. */
  async stopped(group: string): Promise<void> {
    for (const [id, working] of this.#working) if (working.group === group) await this.#end(id, "stopped");
    for (const [id, name] of this.#due) if (name === group) this.#due.delete(id);
    for (const request of this.#requests.values())
      if (request.group === group) await this.#settle(request, "The conversation stays as it is.");
  }

  /** Nothing of these groups is compacted until the result is disposed of. */
  async hold(groups: readonly string[]): Promise<Disposable> {
    for (const group of groups) this.#held.set(group, (this.#held.get(group) ?? 0) + 1);
    for (const [id, { group }] of this.#working) if (groups.includes(group)) await this.#end(id, "held");
    return {
      [Symbol.dispose]: () => {
        for (const group of groups) this.#held.set(group, (this.#held.get(group) ?? 1) - 1);
        for (const [id, group] of this.#due) if (groups.includes(group)) this.#restBefore(id, group);
        for (const [id, { group }] of this.#requests) if (groups.includes(group)) this.#restBefore(id, group);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#timers[Symbol.dispose]();
    for (const { abort } of this.#working.values()) abort.abort(new AppError("cancelled", "The host stops."));
    await this.#pending.done();
  }

  #restBefore(id: string, group: string): void {
    this.#resting.get(id)?.[Symbol.dispose]();
    const timer = this.#timers.after(this.#options.restMs ?? usualRestMs, () => {
      this.#resting.delete(id);
      this.#begin(id, group);
    });
    this.#resting.set(id, timer);
  }

  #begin(id: string, group: string): void {
    const mayNot = this.#isOver || this.#occupied.has(id) || this.#working.has(id) || (this.#held.get(group) ?? 0) > 0;
    if (mayNot) return;
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(longestMs)]);
    const work = this.#compact(id, group, signal);
    const done = work
      .catch((error: unknown) => {
        // What was given up for somebody is begun again after that.
        if (!abort.signal.aborted) throw error;
      })
      .finally(() => this.#working.delete(id));
    this.#working.set(id, { group, abort, done: done.catch(() => undefined) });
    this.#pending.add(done);
  }

  async #end(id: string, why: string): Promise<void> {
    const working = this.#working.get(id);
    working?.abort.abort(new AppError("cancelled", `The compaction was given up: ${why}.`));
    await working?.done;
  }

  async #compact(id: string, name: string, signal: AbortSignal): Promise<void> {
    const request = this.#requests.get(id);
    const place = await this.#placeOf(id, name);
    if (!place) return this.#drop(id);
    const { session } = place;
    if (request && request.conversation !== session.conversation)
      return this.#settle(request, "A new conversation has begun meanwhile.");
    // One that waits for people or sub-agents goes on with what it has been shown.
    if (await this.#options.store.turns.runningIn(id)) return;
    using held = await this.#options.leases.hold(id);
    if (!held) return;
    const until = AbortSignal.any([signal, held.lost]);
    const said = await this.#compactIn(place, { why: request ? "asked" : "idle", lease: held.lease, signal: until });
    this.#due.delete(id);
    if (request) await this.#settle(request, said ?? "Nothing has been said in this conversation yet.");
  }

  async #placeOf(id: string, name: string): Promise<Place | undefined> {
    const session = await this.#options.store.sessions.get(id);
    const group = this.#options.groupOf(name);
    if (!group || !session || session.archivedAt !== undefined || !isSessionOf(session, group)) return undefined;
    return { session, ...(await this.#options.sessionGroups.forSession(group, session)) };
  }

  /** Result for the asker; undefined when the conversation is empty. */
  async #compactIn(
    place: Place,
    how: { readonly why: CompactionCause; readonly lease: Lease; readonly signal: AbortSignal },
  ): Promise<string | undefined> {
    await this.#options.before(place.group, how.signal);
    how.signal.throwIfAborted();
    using models = this.#options.models.hold();
    const scope = await this.#scopeOf(place, models);
    return scope && (await this.#compactShown({ ...scope, lease: how.lease }, how.why, how.signal));
  }

  /** The last turn of the conversation stands for it: what it was asked with is what a vendor knows. */
  async #scopeOf({ group, session, settings }: Place, models: ModelCalls): Promise<ConversationScope | undefined> {
    const last = await this.#options.shown.lastStep(session);
    const turn = last && (await this.#options.store.turns.get(last.turn));
    return turn && { turn, group, session, settings, models };
  }

  /** Result for the asker. */
  async #compactShown(
    scope: Parameters<Compactor["compact"]>[0],
    why: CompactionCause,
    signal: AbortSignal,
  ): Promise<string> {
    const shown = await this.#options.shown.of(scope);
    const outcome: CompactionOutcome = await this.#options.compactor.compact(scope, shown, { why, signal });
    if (outcome.kind === "failed")
      this.#options.logger.info(
        { session: scope.session.id, reason: outcome.reason },
        "a conversation could not be summarized; retrying after a later turn",
      );
    return describeCompaction(outcome, {
      before: tokensOfConversation(shown),
      ...limitsFor(scope, shown),
      isMain: scope.group.main,
    });
  }

  async #drop(id: string): Promise<void> {
    this.#due.delete(id);
    const request = this.#requests.get(id);
    if (!request) return;
    this.#requests.delete(id);
    await this.#options.store.summaries.settleRequest(request, [], this.#options.clock.now());
  }

  /** Ends a request with these words, once. */
  async #settle(request: CompactionRequest, text: string): Promise<void> {
    const { store, groupOf, clock, deliver } = this.#options;
    const group = groupOf(request.group);
    const messages = await store.messages.withSeqs([request.message]);
    const drafts = group ? [draftFor(group, { kind: "notice", text, turn: undefined, ...answering(messages) })] : [];
    const isSettled = await store.summaries.settleRequest(request, drafts, clock.now());
    if (this.#requests.get(request.session)?.message === request.message) this.#requests.delete(request.session);
    if (isSettled) deliver();
  }
}
