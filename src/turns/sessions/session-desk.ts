import { createHash } from "node:crypto";

import type { Group } from "../../domain/group.ts";
import { agentOfSession, type Session } from "../../domain/session.ts";
import { describeParts, partsOf } from "../../domain/part.ts";
import type { StepBody } from "../../domain/turn.ts";
import type { Publish } from "../../events/event.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { RoleOf } from "../../people/roles.ts";
import { isAtLeast } from "../../domain/role.ts";
import { ToolError } from "../../protocol/tools.ts";
import type { Store } from "../../stores/store.ts";
import type { SessionDesk, SessionHistory } from "../../tools/session-desk.ts";
import { placeOf, type TurnScope } from "../turn-options.ts";
import { visibleSessions } from "./visible-sessions.ts";

/** Sends of one turn. */
const sendsPerTurn = 5;
/** Sends in a row without a word of a person between them: two agents that answer each other come to an end. */
const sendsInARow = 5;
/** Work that may wait in a session for it to be given more. */
const waitingAtMost = 20;

export interface SessionDeskOptions {
  readonly store: {
    readonly sessions: Pick<Store["sessions"], "list">;
    readonly turns: Pick<Store["turns"], "history">;
    readonly messages: Pick<Store["messages"], "ofTurn">;
    readonly work: Pick<Store["work"], "add" | "list" | "ofTurn">;
    readonly origins: Pick<Store["origins"], "ofSession" | "provenance" | "note">;
  };
  /** Those that there are now. */
  readonly groups: () => readonly Group[];
  readonly roleOf: RoleOf;
  readonly workAdded: () => void;
  readonly publish: Publish<"session.read" | "session.addressed">;
  readonly clock: Pick<Clock, "now">;
}

type Scope = Pick<TurnScope, "turn" | "group" | "session" | "settings">;

/** The desk for one call of a tool; `call` tells it from all others of the turn. */
export function createSessionDesk(options: SessionDeskOptions, scope: TurnScope, call: string): SessionDesk {
  const { session: own } = scope;
  return {
    list: async () =>
      (await visible(options, scope)).map((session) => ({
        id: session.id,
        group: session.group,
        agent: agentOfSession(session),
        kind: session.kind,
        parent: session.parent,
        isOwn: session.id === own.id,
      })),
    history: async (id, limit) => {
      const session = await find(options, scope, id);
      const history = await readHistory(options, session, limit);
      // Read after its words, so that what it has read by then counts, and noted before the model sees them.
      const read = await options.store.origins.ofSession(session.id);
      await options.store.origins.note(scope.turn.id, ["agent", ...read]);
      const data = { of: session.id, entries: history.entries.length };
      await options.publish({ type: "session.read", ...placeOf(scope), actor: "agent", data });
      return history;
    },
    send: (id, text) => send(options, scope, { call, id, text }),
  };
}

async function visible({ store, groups }: SessionDeskOptions, { session, settings, group }: Scope): Promise<Session[]> {
  const visibility = settings.sessionVisibility(group) ?? "self";
  const all = visibleSessions({ session, visibility }, await store.sessions.list(), groups());
  return all.toSorted((one, other) => (one.key < other.key ? -1 : 1));
}

/** One that may not be seen is spoken of as one that there is not. */
async function find(options: SessionDeskOptions, scope: Scope, id: string): Promise<Session> {
  const session = (await visible(options, scope)).find((each) => each.id === id);
  if (!session) throw new ToolError(`There is no session "${id}" that you may see; sessions_list shows them.`);
  return session;
}

async function readHistory(
  { store }: SessionDeskOptions,
  { id, conversation, windowStart }: Session,
  limit: number,
): Promise<SessionHistory> {
  const steps = await store.turns.history(id, conversation, windowStart);
  const all = steps.flatMap(({ body }) => entriesOf(body));
  const entries = all.slice(-limit);
  return { entries, omitted: all.length - entries.length };
}

function entriesOf(body: StepBody): SessionHistory["entries"] {
  if (body.kind === "user") return [{ by: "people", text: describeParts(partsOf(body)) }];
  if (body.kind === "model") return body.answer.text === "" ? [] : [{ by: "agent", text: body.answer.text }];
  return body.results.map((result) => ({ by: "tools", text: describeParts(partsOf(result)) }));
}

async function send(
  options: SessionDeskOptions,
  scope: TurnScope,
  { call, id, text }: { readonly call: string; readonly id: string; readonly text: string },
): Promise<void> {
  const { store, clock } = options;
  const { turn, group, session: own } = scope;
  const target = await find(options, scope, id);
  if (target.id === own.id) throw new ToolError("This is your own session: go on here.");
  const requester = await requesterOf(options, scope);
  await requireRoom(options, scope, target);
  const workId = `sent:${turn.id}:${createHash("sha256").update(call).digest("hex").slice(0, 16)}`;
  const { name, channel, chat } = group;
  await options.publish({
    type: "session.addressed",
    ...placeOf(scope),
    actor: "agent",
    data: { to: target.id, work: workId, chars: text.length },
  });
  await store.work.add(
    {
      id: workId,
      group: target.group,
      session: target.id,
      cause: "agent",
      dueAt: clock.now(),
      dedupe: workId,
      replyTo: { kind: "session", session: own.id, ...(target.group !== name && { group: { name, channel, chat } }) },
      origin: "agent",
      origins: (await store.origins.provenance(turn.id)).origins,
      requester,
      text,
    },
    clock.now(),
  );
  options.workAdded();
}

/** Of those who asked, the one with the least role: the other session does nothing for the turn that it may not do itself. */
async function requesterOf({ store, roleOf }: SessionDeskOptions, { turn, group }: Scope): Promise<string | undefined> {
  const senders = (await store.messages.ofTurn(turn.id)).map(({ channel, sender }) => ({ channel, id: sender.id }));
  const asking = senders.map((who) => ({ ...who, role: roleOf(group, who) }));
  const [least] = asking.toSorted((one, other) => (isAtLeast(one.role, other.role) ? 1 : -1));
  const work = turn.cause === "message" ? undefined : await store.work.ofTurn(turn.id);
  if (least?.role === "guest" || work?.origin === "guest")
    throw new ToolError("A guest has asked for this, and guests reach no other session.");
  return work?.requester ?? (least && `${least.channel}:${least.id}`);
}

async function requireRoom({ store }: SessionDeskOptions, { turn }: Scope, { id, group }: Session): Promise<void> {
  if ((await sendsBefore(store.work, turn.id)) >= sendsInARow) {
    throw new ToolError(
      `Agents have written to each other ${sendsInARow} times in a row; the next word has to be a person's. Answer with what you know.`,
    );
  }
  const recent = await store.work.list({ group, limit: 200 });
  if (recent.filter((work) => work.id.startsWith(`sent:${turn.id}:`)).length >= sendsPerTurn)
    throw new ToolError(`At most ${sendsPerTurn} messages to other sessions may be sent in one turn.`);
  if (recent.filter((work) => work.session === id && work.state === "due").length >= waitingAtMost)
    throw new ToolError(`${waitingAtMost} pieces of work wait in session ${id} already; try again when some are done.`);
}

/**
 * How many sends led to this turn without a message of a person between them. Work says which turn it comes from: `sent:<turn>:…`
 * was sent by one, `agent:<turn>` is one's answer.
 */
async function sendsBefore(work: Pick<Store["work"], "ofTurn">, turn: string): Promise<number> {
  let sends = 0;
  let at: string | undefined = turn;
  for (let hop = 0; at !== undefined && hop <= 2 * sendsInARow; hop += 1) {
    const begunFor: string = (await work.ofTurn(at))?.id ?? "";
    const [, how, from] = /^(sent|agent):([^:]+)/.exec(begunFor) ?? [];
    if (how === "sent") sends += 1;
    at = from;
  }
  return sends;
}
