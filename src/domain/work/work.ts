import type { GroupChat } from "../chats/group.ts";
import type { Origin } from "../people/origin.ts";
import type { Role } from "../people/role.ts";

/**
 * Why a turn begins: somebody spoke (`message`), a time has come (`schedule`, `heartbeat`), another program called
 * (`webhook`, `api`), something that the agent had left running is over (`job-ended`), a person answered a question of
 * the host's (`approval`), or another agent gave it (`agent`).
 */
export const causes = ["message", "schedule", "heartbeat", "webhook", "job-ended", "approval", "agent", "api"] as const;

export type Cause = (typeof causes)[number];

/**
 * Where the answer of a turn goes: into a chat (and a thread of it), to another session as work for it, or nowhere, as
 * when a program reads it.
 */
export type ReplyTarget =
  | { readonly kind: "chat"; readonly channel: string; readonly chat: string; readonly thread?: string | undefined }
  | {
      readonly kind: "session";
      readonly session: string;
      /** Whose it is, where that is another group than the turn's. */
      readonly group?: GroupChat | undefined;
    }
  | { readonly kind: "nowhere" };

/** `due` (from `dueAt` on) → `taken` by a running turn → `settled` with it. `dropped`: given up, for the `reason`. */
export const workStates = ["due", "taken", "settled", "dropped"] as const;

export type WorkState = (typeof workStates)[number];

/**
 * Something that a turn has to be made of, other than waiting messages: a message of a registered group is its own work
 * (see `MessageState`), so that there is one row, and one truth, for each.
 */
export interface NewWork {
  /** Of the maker's choice; never used twice. */
  readonly id: string;
  readonly group: string;
  /** Id of the session that does it. */
  readonly session: string;
  readonly cause: Exclude<Cause, "message">;
  /** Milliseconds since 1970; not before this. */
  readonly dueAt: number;
  /** Names the cause, such as `task:12:1767225600000`: a second piece of work of the same name is a duplicate. */
  readonly dedupe?: string | undefined;
  readonly replyTo: ReplyTarget;
  /** Whose words it is made of. */
  readonly origin: Origin;
  /** What else whoever made it has read. */
  readonly origins?: readonly Origin[] | undefined;
  /** Who asked for it, as `channel:id` of a member, where somebody did. */
  readonly requester?: string | undefined;
  /** The highest role that its turn has; undefined: that of whoever asked, or what the origin says. */
  readonly role?: Role | undefined;
  /** What the agent is told; hostile unless the origin is the owner. */
  readonly text: string;
  /** What a program sent along: hostile, and shown as data. */
  readonly payload?: string | undefined;
}

/** A row of work. `seq` is the order of making. */
export interface Work extends NewWork {
  readonly seq: number;
  readonly state: WorkState;
  /** The turn that has, or had, it. */
  readonly turn: string | undefined;
  /** Why it was dropped. */
  readonly reason: string | undefined;
  readonly createdAt: number;
}
