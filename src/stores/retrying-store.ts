import type { Logger } from "pino";

import { isPassing, toError } from "../lib/app-error.ts";
import { backoffMs } from "../lib/time/backoff.ts";
import { sleep } from "../lib/time/sleep.ts";
import type { Store } from "./contract/store.ts";

const backoff = { firstMs: 100, longestMs: 2_000 };

/**
 * A store that waits for trouble of the machine (a full disk, a file that somebody holds) to pass: what failed is
 * retried until it works, or until it is told to give up. Turns are worked on with it, so that they wait instead of
 * failing.
 */
export class RetryingStore {
  readonly store: Store;
  readonly #logger: Logger;
  readonly #onTrouble: (error: unknown) => void;
  readonly #over = new AbortController();

  constructor(
    store: Store,
    options: {
      readonly logger: Logger;
      /** Told of each failure that is retried. */ readonly onTrouble: (error: unknown) => void;
    },
  ) {
    this.#logger = options.logger;
    this.#onTrouble = options.onTrouble;
    this.store = {
      ...store,
      messages: this.#retrying(store.messages, messages),
      groups: this.#retrying(store.groups, groups),
      sessions: this.#retrying(store.sessions, sessions),
      leases: this.#retrying(store.leases, leases),
      turns: this.#retrying(store.turns, turns),
      work: this.#retrying(store.work, work),
      jobs: this.#retrying(store.jobs, jobs),
      approvals: this.#retrying(store.approvals, approvals),
      tasks: this.#retrying(store.tasks, tasks),
      subAgents: this.#retrying(store.subAgents, subAgents),
      summaries: this.#retrying(store.summaries, summaries),
      origins: this.#retrying(store.origins, origins),
      outbox: this.#retrying(store.outbox, outbox),
      usage: this.#retrying(store.usage, usage),
    };
  }

  /** From now on what fails, fails. */
  giveUp(): void {
    this.#over.abort();
  }

  /** Retries anything else that fails by the same trouble. */
  async retry<T>(action: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await action();
      } catch (error) {
        if (!isPassing(error) || this.#over.signal.aborted) throw error;
        this.#onTrouble(error);
        const delayMs = backoffMs(backoff, failures);
        this.#logger.debug({ err: toError(error), retryInMs: delayMs }, "retrying");
        await sleep(delayMs, this.#over.signal);
      }
    }
  }

  #retrying<Table extends Methods<Table>>(table: Table, methods: Record<keyof Table, true>): Table {
    const entries = (Object.keys(methods) as (keyof Table)[]).map((name) => {
      const method = table[name].bind(table) as (...given: unknown[]) => Promise<unknown>;
      return [name, (...given: unknown[]) => this.retry(() => method(...given))] as const;
    });
    // One function for each method of the table, as `methods` has all of them.
    return Object.fromEntries(entries) as Table;
  }
}

// A method receives whatever its table says; here they are only passed on.
// oxlint-disable-next-line typescript/no-explicit-any
type Methods<Table> = { readonly [Name in keyof Table]: (...given: any[]) => Promise<unknown> };

/** All methods of the tables; the compiler finds one that is missing. */
const messages: Record<keyof Store["messages"], true> = {
  insert: true,
  isKnown: true,
  after: true,
  following: true,
  countAfter: true,
  waiting: true,
  waitingCount: true,
  waitingTotal: true,
  waitingByGroup: true,
  waitingGroups: true,
  withSeqs: true,
  overtaken: true,
  ofTurn: true,
  requeue: true,
};
const groups: Record<keyof Store["groups"], true> = {
  list: true,
  add: true,
  change: true,
  remove: true,
  ordinal: true,
  wasUsed: true,
  folder: true,
  folders: true,
  claimFolder: true,
  earlierChat: true,
  noteInstructions: true,
};
const sessions: Record<keyof Store["sessions"], true> = {
  open: true,
  find: true,
  get: true,
  list: true,
  archive: true,
  archiveSettled: true,
  renew: true,
  nextGeneration: true,
  setClearedBefore: true,
  retirePictures: true,
  prompt: true,
  setPrompt: true,
  offered: true,
  offerTools: true,
  extendOffer: true,
  nextMailboxBlock: true,
};
const leases: Record<keyof Store["leases"], true> = { claim: true, release: true, endAll: true };
const turns: Record<keyof Store["turns"], true> = {
  begin: true,
  addStep: true,
  addAttempt: true,
  finish: true,
  get: true,
  idsBeginningWith: true,
  running: true,
  runningIn: true,
  list: true,
  outlines: true,
  steps: true,
  pace: true,
  lastStep: true,
  history: true,
};
const work: Record<keyof Store["work"], true> = {
  add: true,
  addAside: true,
  get: true,
  idsBeginningWith: true,
  due: true,
  dueSessions: true,
  nextDueAt: true,
  list: true,
  ofTurn: true,
  requeue: true,
  drop: true,
  dueCount: true,
  isKnown: true,
};
const tasks: Record<keyof Store["tasks"], true> = {
  add: true,
  get: true,
  idsBeginningWith: true,
  list: true,
  change: true,
  setState: true,
  remove: true,
  nextDueAt: true,
  due: true,
  dueAfter: true,
  claim: true,
  runNow: true,
  isClaimed: true,
  lastClaimedAt: true,
  ended: true,
  settle: true,
  runs: true,
  counts: true,
};
const jobs: Record<keyof Store["jobs"], true> = { begin: true, end: true, running: true, list: true, prune: true };
const approvals: Record<keyof Store["approvals"], true> = {
  get: true,
  ofTurn: true,
  ofStep: true,
  ofCard: true,
  openCards: true,
  list: true,
  open: true,
  openCount: true,
  ask: true,
  cancel: true,
  decide: true,
  reactionOf: true,
  refuseReaction: true,
  expire: true,
  release: true,
  tellWaiting: true,
  noteOutcome: true,
  unrecorded: true,
  recorded: true,
  grantFor: true,
  grants: true,
  revoke: true,
};
const subAgents: Record<keyof Store["subAgents"], true> = {
  nextNumber: true,
  begin: true,
  get: true,
  ofSession: true,
  ofStep: true,
  awaitedBy: true,
  list: true,
  live: true,
  end: true,
  deliver: true,
  release: true,
  tellWaiting: true,
  removed: true,
  prune: true,
};
const origins: Record<keyof Store["origins"], true> = {
  provenance: true,
  ofSession: true,
  note: true,
  ofFolder: true,
  reach: true,
  clearFolder: true,
};
const summaries: Record<keyof Store["summaries"], true> = {
  cover: true,
  add: true,
  entryCount: true,
  entries: true,
  requests: true,
  settleRequest: true,
};
const outbox: Record<keyof Store["outbox"], true> = {
  add: true,
  unsent: true,
  setState: true,
  ofChannel: true,
  saidIn: true,
  isOwn: true,
  sessionOf: true,
  counts: true,
  ofTurn: true,
  get: true,
  list: true,
  withFiles: true,
  requeue: true,
};
const usage: Record<keyof Store["usage"], true> = {
  learnedWindows: true,
  keepWindow: true,
  forgetLearned: true,
  reserve: true,
  settle: true,
  tokenFactors: true,
  warnsFirst: true,
  ofDay: true,
  sums: true,
};
