import type { GroupChat } from "../chats/group.ts";
import type { Origin } from "../people/origin.ts";
import type { Lineage } from "../rights/lineage.ts";

/**
 * Causes of turns: a message, a due time (`schedule`, `heartbeat`), another program (`webhook`, `api`), an ended job
 * (`job-ended`), a person's answer (`approval`), or another agent (`agent`).
 */
export const causes = ["message", "schedule", "heartbeat", "webhook", "job-ended", "approval", "agent", "api"] as const;

export type Cause = (typeof causes)[number];

/** Destination of a turn's answer: a chat (or thread), another session as work, or nowhere when a program reads it. */
export type ReplyTarget =
  | { readonly kind: "chat"; readonly channel: string; readonly chat: string; readonly thread?: string | undefined }
  | {
      readonly kind: "session";
      readonly session: string;
      /** The group, when it is not the turn's own. */
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
  /** Id chosen by the maker; never used twice. */
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
  /** Origin of its words. */
  readonly origin: Origin;
  /** People, rights and sources behind it; its turn has no more rights. */
  readonly lineage: Lineage;
  /** Text for the agent; hostile unless the origin is the owner. */
  readonly text: string;
  /** Payload from a program: hostile, shown as data. */
  readonly payload?: string | undefined;
}

/** A row of work. `seq` is the order of making. */
export interface Work extends NewWork {
  readonly seq: number;
  readonly state: WorkState;
  /** The turn that has, or had, it. */
  readonly turn: string | undefined;
  /** Reason why it was dropped. */
  readonly reason: string | undefined;
  readonly createdAt: number;
}
