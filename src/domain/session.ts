import type { GroupChat } from "./group.ts";

/** `main`: a group's own, in which its chat is answered. The others are beside it: each is for one kind of work. */
export const sessionKinds = ["main", "task", "heartbeat", "agent", "api"] as const;

export type SessionKind = (typeof sessionKinds)[number];

/** The id of the agent that every group has. Unlike its name, it never changes. */
const agentId = "main";

/** Key of a group's main session: `agent:channel:peer`. */
export function mainSessionKey({ channel, chat }: Pick<GroupChat, "channel" | "chat">): string {
  return `${agentId}:${channel}:${chat}`;
}

/** A session beside a group's main one, as it is asked for. */
export interface SideSession {
  readonly group: GroupChat;
  readonly kind: Exclude<SessionKind, "main">;
  /** Of the asker's choice, unique among those of its kind in the group. */
  readonly id: string;
  /** Id of the session that it works for. */
  readonly parent?: string | undefined;
  readonly ephemeral?: boolean | undefined;
}

/** Key of a session beside the group's main one: `agent:channel:peer:kind:id`. */
export function sideSessionKey(
  group: Pick<GroupChat, "channel" | "chat">,
  { kind, id }: Pick<SideSession, "kind" | "id">,
): string {
  return `${mainSessionKey(group)}:${kind}:${id}`;
}

/** Does the session belong to the chat that the group is now? */
export function isSessionOf(session: Pick<Session, "key" | "kind" | "group">, group: GroupChat): boolean {
  if (session.group !== group.name) return false;
  const main = mainSessionKey(group);
  return session.kind === "main" ? session.key === main : session.key.startsWith(`${main}:${session.kind}:`);
}

/** One agent's conversation with one group. `key`: see `mainSessionKey`; `id` is a short hash, safe in paths and names. */
export interface Session {
  readonly id: string;
  readonly key: string;
  readonly kind: SessionKind;
  readonly group: string;
  /** Id of the session that this one works for. */
  readonly parent?: string | undefined;
  /** It is put aside as soon as nothing is to be done in it; work that comes later begins a new conversation in it. */
  readonly ephemeral?: boolean | undefined;
  /** When it was put aside: nothing runs in it any more. Milliseconds since 1970. */
  readonly archivedAt?: number | undefined;
  readonly conversation: number;
  /** Number of the last container life that was started; rises by one for each. */
  readonly generation: number;
  /** Highest message `seq` that has been shown to the model. */
  readonly contextCursor: number;
  /** First step `seq` that is still sent to the model; moves forward in chunks. */
  readonly windowStart: number;
}

/** What the operator sees of a session's container. */
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
