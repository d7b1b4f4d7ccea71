import { agentFolder, type Group, type GroupChat } from "../chats/group.ts";

/** `main`: a group's own, in which its chat is answered. The others are beside it: each is for one kind of work. */
export const sessionKinds = ["main", "task", "heartbeat", "agent", "api"] as const;

export type SessionKind = (typeof sessionKinds)[number];

/**
 * Which sessions a session's agent may see: itself, those that work for it, those of its group, those of all groups.
 * Each has what the one before it has.
 */
export const sessionVisibilities = ["self", "tree", "group", "all"] as const;

export type SessionVisibility = (typeof sessionVisibilities)[number];

/** The id of the agent of groups that name none. Unlike its name, it never changes. */
export const mainAgent = "main";

/** A chat, and the agent that it has. */
type AgentPlace = Pick<Group, "channel" | "chat" | "agent">;

/** Key of a group's main session: `agent:channel:peer`. With another agent it is another session. */
export function mainSessionKey({ agent = mainAgent, channel, chat }: AgentPlace): string {
  return `${agent}:${channel}:${chat}`;
}

/** Ids of the agents of a group, the first one first. */
export function agentsOf({ agent = mainAgent, agents }: Pick<Group, "agent" | "agents">): readonly string[] {
  return agents ?? [agent];
}

/**
 * Name of the folder in which an agent of the group works: the group's for the first one. Its memory is called so, too.
 */
export function folderOf(group: Pick<Group, "name" | "agent" | "agents">, agent: string): string {
  return agent === agentsOf(group)[0] ? group.name : agentFolder(group.name, agent);
}

/** Keys of the main sessions of all agents of a group, the first one's first. */
export function mainSessionKeys(group: AgentPlace & Pick<Group, "agents">): readonly string[] {
  return agentsOf(group).map((agent) => mainSessionKey({ ...group, agent }));
}

/**
 * Which of a group's messages are for an agent of it. The first one has all `except` those for the others, so that what
 * was for an agent that the group has no more is not lost; each other one has `only` its own.
 */
export type Addressee = { readonly only: string } | { readonly except: readonly string[] };

/** Messages that the agent of this id answers in the group; undefined for an unknown agent. */
export function addresseeOf(group: Pick<Group, "agent" | "agents">, agent: string): Addressee | undefined {
  const [first, ...others] = agentsOf(group);
  if (agent === first) return { except: others };
  return others.includes(agent) ? { only: agent } : undefined;
}

/** Can there be a message for both? */
export function overlaps(one: Addressee, other: Addressee): boolean {
  if ("only" in one) return "only" in other ? one.only === other.only : !other.except.includes(one.only);
  return "only" in other ? overlaps(other, one) : true;
}

/** Is a message for this agent one of these? `agent` is undefined where its group had one agent. */
export function isAddressee(addressee: Addressee, agent: string | undefined): boolean {
  if ("only" in addressee) return agent === addressee.only;
  return agent === undefined || !addressee.except.includes(agent);
}

/** The id of the agent whose session has this key. */
export function agentOfSession({ key }: Pick<Session, "key">): string {
  return key.slice(0, key.indexOf(":"));
}

/** A session beside a group's main one, as it is asked for. */
export interface SideSession {
  readonly group: GroupChat;
  readonly kind: Exclude<SessionKind, "main">;
  /** Id chosen by the creator, unique among its kind in the group. */
  readonly id: string;
  /** Id of the session that it works for. */
  readonly parent?: string | undefined;
  readonly ephemeral?: boolean | undefined;
}

/** Key of a session beside the group's main one: `agent:channel:peer:kind:id`. */
export function sideSessionKey(group: AgentPlace, { kind, id }: Pick<SideSession, "kind" | "id">): string {
  return `${mainSessionKey(group)}:${kind}:${id}`;
}

/**
 * Does the session belong to the chat that the group is now? The agent may be one that the group had before: it ends
 * its work.
 */
export function isSessionOf(session: Pick<Session, "key" | "kind" | "group">, group: GroupChat): boolean {
  if (session.group !== group.name) return false;
  const main = mainSessionKey({ ...group, agent: agentOfSession(session) });
  return session.kind === "main" ? session.key === main : session.key.startsWith(`${main}:${session.kind}:`);
}

/**
 * One agent's conversation with one group. `key`: see `mainSessionKey`; `id` is a short hash, safe in paths and names.
 */
export interface Session {
  readonly id: string;
  readonly key: string;
  readonly kind: SessionKind;
  readonly group: string;
  /** Id of the session that this one works for. */
  readonly parent?: string | undefined;
  /** It is put aside as soon as nothing is to be done in it; work that comes later begins a new conversation in it. */
  readonly ephemeral?: boolean | undefined;
  /** When it was put aside: nothing runs in it anymore. Milliseconds since 1970. */
  readonly archivedAt?: number | undefined;
  readonly conversation: number;
  /** Number of the last container life that was started; rises by one for each. */
  readonly generation: number;
  /** Highest message `seq` that has been shown to the model. */
  readonly contextCursor: number;
  /** First step `seq` that is still sent to the model; moves forward in chunks. */
  readonly windowStart: number;
  /** Long results of steps with a lower `seq` are not sent anymore; moves forward. */
  readonly clearedBefore: number;
  /**
   * Pictures of steps before `from` are told in words, those with a caption up to this number in its words. Absent: all
   * are shown.
   */
  readonly retired?: { readonly from: number; readonly captions: number } | undefined;
}

/** A session's container as shown to the operator. */
export interface HotContainerView {
  readonly session: string;
  readonly group: string;
  readonly generation: number;
  readonly container: string;
  readonly name: string;
  /** `frozen`: idle, and without processor time until the next message. */
  readonly state: "starting" | "idle" | "frozen" | "busy" | "closing";
  readonly lastUsedAt: number;
}
