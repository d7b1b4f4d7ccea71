import { createHash } from "node:crypto";

import type { Group } from "../../domain/chats/group.ts";
import {
  agentOfSession,
  agentsOf,
  type Session,
  type SessionVisibility,
  sideSessionKey,
} from "../../domain/turns/session.ts";
import { describeParts, partsOf } from "../../domain/chats/part.ts";
import type { NewWork } from "../../domain/work/work.ts";
import type { StepBody } from "../../domain/turns/turn.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { withOrigins } from "../../domain/rights/lineage.ts";
import { lineageOfTurn } from "../../rights/people/lineage-of-turn.ts";
import type { Roles } from "../../rights/people/roles.ts";
import { type ActingParty, mayAct } from "../../domain/rights/may-act.ts";
import { turnAsAsker } from "../../rights/people/asker.ts";
import { isAtLeast } from "../../domain/people/role.ts";
import { ToolError } from "../../protocol/tools.ts";
import { sessionId } from "../../stores/contract/session-store.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { SessionService, SessionHistory, WantedSession } from "../../tools/sessions/session-service.ts";
import { turnIdsOf, type TurnScope } from "../turn-scope.ts";
import { visibleSessions } from "./visible-sessions.ts";

/** Sends of one turn. */
const sendsPerTurn = 5;
/** Sends in a row without a word of a person between them: two agents that answer each other come to an end. */
const sendsInARow = 5;
/** Sessions that agents have begun and that have not answered yet, in one group. */
const begunAtOnce = 8;
/** Begins their ids: no task has one like it. */
const begunBy = "begun-";
/** Work that may wait in a session for it to be given more. */
const waitingAtMost = 20;

export interface SessionServiceOptions {
  readonly store: {
    readonly sessions: Pick<Store["sessions"], "list">;
    readonly summaries: Pick<Store["summaries"], "entries">;
    readonly work: Pick<Store["work"], "add" | "addAside" | "list" | "ofTurn">;
    readonly origins: Pick<Store["origins"], "ofSession" | "lineage">;
  };
  /** Name of an agent of the group. */
  readonly agentNameOf: (agent: string) => string;
  /** Those that there are now. */
  readonly groups: () => readonly Group[];
  readonly roles: Pick<Roles, "roleOf">;
  readonly workAdded: () => void;
  readonly publish: Publish<"session.read" | "session.addressed">;
  readonly clock: Pick<Clock, "now">;
}

type Scope = Pick<TurnScope, "turn" | "group" | "session" | "settings">;

/** The desk for one call of a tool; `call` tells it from all others of the turn. */
export function createSessionService(options: SessionServiceOptions, scope: TurnScope, call: string): SessionService {
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
    history: async (id, window) => {
      const session = await find(options, scope, id);
      const history = await readHistory(options, session, window);
      // Read after its words, so that what it has read by then counts.
      const read = await options.store.origins.ofSession(session.id);
      const data = { of: session.id, entries: history.entries.length };
      await options.publish({ type: "session.read", ...turnIdsOf(scope), actor: "agent", data });
      return { ...history, origins: ["agent", ...read] };
    },
    send: (id, text) => send(options, scope, { call, id, text }),
    begin: (wanted) => begin(options, scope, { call, wanted }),
  };
}

/** Sessions of other groups are for admins, whatever the agent may see. */
const sessionRights = { role: "guest", fromMain: "admin" } as const;

async function askerIn(
  { store, roles }: SessionServiceOptions,
  { group, turn, settings }: Scope,
): Promise<ActingParty> {
  const asker = await turnAsAsker({ origins: store.origins, roleOf: roles.roleOf }, group, turn);
  return { ...asker, reachesAll: settings.sessionVisibility === "all" };
}

async function visible(options: SessionServiceOptions, scope: Scope): Promise<Session[]> {
  const { store, groups } = options;
  const { session, settings } = scope;
  const visibility = settings.sessionVisibility ?? "self";
  const asker = await askerIn(options, scope);
  const all = visibleSessions({ session, visibility }, await store.sessions.list(), groups()).filter(
    (each) => mayAct(asker, sessionRights, each) === "allowed",
  );
  return all.toSorted((one, other) => (one.key < other.key ? -1 : 1));
}

/** One that may not be seen is spoken of as one that there is not. */
async function find(options: SessionServiceOptions, scope: Scope, id: string): Promise<Session> {
  const session = (await visible(options, scope)).find((each) => each.id === id);
  if (!session) throw new ToolError(`There is no session "${id}" that you may see; sessions_list shows them.`);
  return session;
}

async function readHistory(
  { store }: SessionServiceOptions,
  { id, conversation }: Session,
  { limit, before = Number.MAX_SAFE_INTEGER }: { readonly limit: number; readonly before?: number | undefined },
): Promise<Omit<SessionHistory, "origins">> {
  // All of the log, also what is summed up for its own agent by now.
  const steps = await store.summaries.entries(id, conversation, { before, limit });
  const entries = steps.flatMap(({ entry, body }) => entriesOf(body).map((said) => ({ entry, ...said })));
  return { entries, omitted: (steps[0]?.entry ?? 1) - 1 };
}

function entriesOf(body: StepBody): Omit<SessionHistory["entries"][number], "entry">[] {
  if (body.kind === "user") return [{ by: "people", text: describeParts(partsOf(body)) }];
  if (body.kind === "model") return body.answer.text === "" ? [] : [{ by: "agent", text: body.answer.text }];
  return body.results.map((result) => ({ by: "tools", text: describeParts(partsOf(result)) }));
}

async function send(
  options: SessionServiceOptions,
  scope: TurnScope,
  { call, id, text }: { readonly call: string; readonly id: string; readonly text: string },
): Promise<void> {
  const { store, clock, publish } = options;
  const target = await find(options, scope, id);
  if (target.id === scope.session.id) throw new ToolError("This is your own session: go on here.");
  const work = await workFor(options, scope, { call, text, group: target.group });
  await requireRoom(options, scope, target);
  const data = { to: target.id, work: work.id, chars: text.length };
  await publish({ type: "session.addressed", ...turnIdsOf(scope), actor: "agent", data });
  await store.work.add({ ...work, group: target.group, session: target.id }, clock.now());
  options.workAdded();
}

async function begin(
  options: SessionServiceOptions,
  scope: TurnScope,
  { call, wanted }: { readonly call: string; readonly wanted: WantedSession },
): Promise<string> {
  const { store, clock, publish } = options;
  const { session: own } = scope;
  const group = placeFor(options, scope, wanted);
  if (mayAct(await askerIn(options, scope), sessionRights, { group: group.name }) !== "allowed")
    throw new ToolError(`There is no group "${group.name}" in which you may begin a session.`);
  const { task: text } = wanted;
  const work = await workFor(options, scope, { call, text, group: group.name });
  const side = { group, kind: "task", id: `${begunBy}${digestOf(`${scope.turn.id} ${call}`)}` } as const;
  const key = sideSessionKey(group, side);
  const target = { id: sessionId(key), group: group.name };
  await requireRoom(options, scope, target);
  await requireFew(options, { key, group: group.name });
  const data = { to: target.id, work: work.id, chars: text.length };
  await publish({ type: "session.addressed", ...turnIdsOf(scope), actor: "agent", data });
  const { session } = await store.work.addAside(work, { ...side, parent: own.id, ephemeral: true }, clock.now());
  options.workAdded();
  return session;
}

/** Group for a new session; only those who see all groups may name another one. */
function placeFor(options: SessionServiceOptions, scope: Scope, wanted: WantedSession): Group {
  const { settings, group: own } = scope;
  const visibility = settings.sessionVisibility ?? "self";
  if (visibility === "self") throw new ToolError("You may see no session but your own, so you can begin none.");
  const { group: name = own.name } = wanted;
  const group = options.groups().find((each) => each.name === name);
  if (group && (name === own.name || visibility === "all"))
    return { ...group, agent: agentFor(options, scope, { group, wanted, visibility }) };
  throw new ToolError(`There is no group "${name}" in which you may begin a session.`);
}

/** A tree has the asker's own agent; a group has all of its agents. */
function agentFor(
  { agentNameOf }: SessionServiceOptions,
  { session, group: own }: Scope,
  { group, wanted, visibility }: { group: Group; wanted: WantedSession; visibility: SessionVisibility },
): string {
  const [there, ownAgent] = [agentsOf(group), agentOfSession(session)];
  const known = visibility === "tree" ? there.filter((id) => id === ownAgent) : there;
  const byDefault = group.name === own.name ? ownAgent : there[0];
  const { agent = byDefault } = wanted;
  const meant = known.find((id) => id === agent || agentNameOf(id) === agent);
  if (meant !== undefined) return meant;
  const names = known.map(agentNameOf).join(", ") || "none";
  throw new ToolError(`There is no agent "${agent}" that you may have there. There are: ${names}.`);
}

/** Work for a session, which inherits the giving turn's lineage. Guests reach no other session. */
async function workFor(
  options: SessionServiceOptions,
  scope: Scope,
  { call, text, group }: { readonly call: string; readonly text: string; readonly group: string },
): Promise<Omit<NewWork, "group" | "session">> {
  const { store, clock, roles } = options;
  const { turn, group: own, session } = scope;
  const lineage = await lineageOfTurn({ origins: store.origins, roleOf: roles.roleOf }, own, turn);
  if (!isAtLeast(lineage.role, "member"))
    throw new ToolError("A guest has asked for this, and guests reach no other session.");
  const id = `sent:${turn.id}:${digestOf(call)}`;
  const { name, channel, chat } = own;
  return {
    id,
    cause: "agent",
    dueAt: clock.now(),
    dedupe: id,
    replyTo: { kind: "session", session: session.id, ...(group !== name && { group: { name, channel, chat } }) },
    origin: "agent",
    lineage: withOrigins(lineage, ["agent"]),
    text,
  };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

async function requireFew(
  { store }: SessionServiceOptions,
  { key, group }: { readonly key: string; readonly group: string },
): Promise<void> {
  const begun = (await store.sessions.list()).filter(
    (each) =>
      each.group === group &&
      each.archivedAt === undefined &&
      each.key !== key &&
      each.key.includes(`:task:${begunBy}`),
  );
  if (begun.length >= begunAtOnce)
    throw new ToolError(
      `${begunAtOnce} sessions that were begun like this are at work in ${group}; wait for an answer.`,
    );
}

async function requireRoom(
  { store }: SessionServiceOptions,
  { turn }: Scope,
  { id, group }: Pick<Session, "id" | "group">,
): Promise<void> {
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
 * Number of sends that led to this turn without a person's message in between. Work names its turn: `sent:<turn>:…` was
 * sent by one, `agent:<turn>` is one's answer.
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
