import * as z from "zod";

import type { Group, GroupChat } from "../../domain/chats/group.ts";
import type { StoredMessage } from "../../domain/chats/message.ts";
import type { ModelUsage } from "../../domain/turns/model.ts";
import { type Step, type Turn, turnStates } from "../../domain/turns/turn.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import type { OutboxStore } from "../../stores/contract/outbox-store.ts";
import type { Store, TurnOutline } from "../../stores/contract/store.ts";
import { viewApproval } from "../approvals/approval-view.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { requireGroup } from "../lookup/require-group.ts";
import { resolveId } from "../lookup/resolve-id.ts";
import { flag, limit, list, name, onlyGroup, listedChars } from "../definition/schemas.ts";
import { lineTurns } from "./turn-lines.ts";
import { reportTurn } from "./turn-report.ts";
import { turnLine, turnReport, viewTurn } from "./turn-view.ts";
import { waitingIn, type WaitingNeeds } from "./waiting.ts";

/** The parts that know turns. */
export interface TurnReadingNeeds extends WaitingNeeds {
  readonly store: WaitingNeeds["store"] & {
    readonly messages: { ofTurn(turn: string): Promise<StoredMessage[]> };
    readonly sessions: Pick<Store["sessions"], "list">;
    readonly approvals: Pick<Store["approvals"], "ofTurn" | "open">;
    readonly turns: {
      get(id: string): Promise<Turn | undefined>;
      idsBeginningWith(prefix: string, limit: number): Promise<string[]>;
      outlines(turns: readonly string[]): Promise<ReadonlyMap<string, TurnOutline>>;
      list(filter: { group?: string | undefined; limit: number }): Promise<Turn[]>;
      steps(turn: string): Promise<Step[]>;
    };
    readonly outbox: Pick<OutboxStore, "ofTurn">;
    readonly executionPoints: Pick<Store["executionPoints"], "ofTurn">;
  };
  readonly groups: { list(): readonly GroupChat[] };
  /** US dollars that a model of the routes asks for this; undefined when its price is not known. */
  readonly costOf: (model: string, usage: ModelUsage) => number | undefined;
}

/** The parts that retry them. */
export interface TurnNeeds {
  readonly store: {
    readonly messages: { ofTurn(turn: string): Promise<StoredMessage[]> };
    readonly turns: Pick<TurnReadingNeeds["store"]["turns"], "get" | "idsBeginningWith">;
  };
  readonly groups: { list(): readonly Group[] };
  /** Puts the messages of a turn back in line and wakes its group. Returns how many. */
  readonly requeue: (turn: Turn) => Promise<number>;
}

/** Outputs are stored up to 30,000 characters; this is more than any text has. */
const wholeText = 1_000_000;
/** Turns that are looked through for those in a state. */
const lookedThrough = 1_000;

export const listTurns = defineOperation<TurnReadingNeeds>()({
  name: "turns.list",
  summary: "list turns, newest first",
  input: z.strictObject({
    group: onlyGroup,
    state: z.enum(turnStates).optional().describe("only in this state"),
    limit: limit(20),
  }),
  output: list(turnLine),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /turns",
  listAs: "turns",
  offline: true,
  cli: {},
  run: async (needs, { group, state, limit: most }) => {
    if (group !== undefined) requireGroup(needs.groups.list(), group);
    const turns = await needs.store.turns.list({ group, limit: state === undefined ? most : lookedThrough });
    return lineTurns(needs, turns.filter((turn) => state === undefined || turn.state === state).slice(0, most));
  },
});

export const showTurn = defineOperation<TurnReadingNeeds>()({
  name: "turns.show",
  summary: "show everything that happened in a turn",
  input: z.strictObject({
    id: name.describe("id of the turn, or its beginning"),
    maxChars: z.coerce.number().int().min(1).max(wholeText).default(listedChars).describe("where texts are cut"),
    full: flag.describe("do not shorten texts"),
  }),
  output: turnReport,
  may: { scope: "read" },
  effect: "none",
  rest: "GET /turns/{id}",
  offline: true,
  cli: { args: ["id"], without: ["maxChars"] },
  run: async (needs, { id, maxChars, full }) => {
    const { store, costOf } = needs;
    const turn = await findTurn(store.turns, id);
    const [messages, steps, said, executionPoints, waiting] = await Promise.all([
      store.messages.ofTurn(turn.id),
      store.turns.steps(turn.id),
      store.outbox.ofTurn(turn.id),
      store.executionPoints.ofTurn(turn.id),
      waitingIn(needs),
    ]);
    const approvals = (await store.approvals.ofTurn(turn.id)).map(viewApproval);
    const found = { messages, steps, said, approvals, executionPoints, costOf };
    return reportTurn(viewTurn(turn, waiting.get(turn.group)), found, full ? wholeText : maxChars);
  },
});

/** Rejects with `conflict` for a turn that has not failed, or whose messages are gone. */
export const retryTurn = defineOperation<TurnNeeds>()({
  name: "turns.retry",
  summary: "put the messages of a failed turn back in line",
  input: z.strictObject({ id: name.describe("id of the turn, or its beginning") }),
  output: z.strictObject({ turn: z.string(), requeued: z.number() }),
  may: { scope: "admin" },
  effect: "change",
  cli: {
    args: ["id"],
    say: ({ requeued }) => `${requeued} ${requeued === 1 ? "message waits" : "messages wait"} for a new turn.`,
  },
  run: async ({ store, groups, requeue }, { id }) => {
    const turn = await findTurn(store.turns, id);
    if (turn.state !== "failed") {
      throw new AppError("conflict", `Turn ${turn.id} is ${turn.state}; only a failed one can be retried.`);
    }
    requireKept(turn, requireGroup(groups.list(), turn.group), await store.messages.ofTurn(turn.id));
    return { turn: turn.id, requeued: await requeue(turn) };
  },
});

function requireKept(turn: Turn, group: GroupChat, messages: readonly StoredMessage[]): void {
  if (messages.length > 0 && messages.every(({ pruned }) => pruned === true)) {
    throw new AppError("conflict", `The messages of turn ${turn.id} are no longer kept, so it cannot be retried.`);
  }
  const [message] = messages;
  if (!message || (message.channel === group.channel && message.chat === group.chat)) return;
  const whose = `the chat "${message.chat}" on channel ${message.channel}`;
  throw new AppError(
    "conflict",
    `Turn ${turn.id} belongs to ${whose}; the group "${group.name}" is another chat by now.`,
    { fix: "add that chat as a group, under another name, and ask there again" },
  );
}

/**
 * Finds a turn by its id or a beginning that no other has. Throws `not_found`, or `bad_input` where several begin like
 * this.
 */
async function findTurn(
  turns: Pick<TurnReadingNeeds["store"]["turns"], "get" | "idsBeginningWith">,
  given: string,
): Promise<Turn> {
  const id = await resolveId(given, {
    what: "turn",
    list: ownCommand("turns list"),
    beginningWith: (prefix, most) => turns.idsBeginningWith(prefix, most),
  });
  const turn = await turns.get(id);
  if (turn !== undefined) return turn;
  throw new AppError("not_found", `The turn ${id} was removed just now.`);
}

/** Operations on turns. */
export const turnOperations = [listTurns, showTurn, retryTurn] as const;
