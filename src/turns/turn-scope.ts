import type { Group } from "../domain/chats/group.ts";
import type { WorkSlot } from "../domain/work/work-slot.ts";
import type { ResolvedGroup } from "../domain/settings/resolved-group.ts";
import type { Lease } from "../domain/turns/lease.ts";
import type { Addressee, Session } from "../domain/turns/session.ts";
import type { Step, Turn } from "../domain/turns/turn.ts";
import type { ModelCalls } from "../models/model-calls.ts";
import type { TurnClock } from "./turn-clock.ts";

/** A group as it is for one session: with the session's agent, what is configured for both, and the session's route. */
export interface SessionGroup {
  readonly group: Group;
  readonly settings: ResolvedGroup;
  /** Reason why no turn can run in the session, for whoever waits for it. */
  readonly fault?: string | undefined;
}

/** A turn at work: who it is for, and in which conversation. `lease`: the right to write for its session. */
export interface TurnScope {
  readonly turn: Turn;
  readonly group: Group;
  readonly session: Session;
  readonly clock: TurnClock;
  readonly place: WorkSlot;
  readonly lease: Lease;
  /** Settings at the beginning of the turn. */
  readonly settings: ResolvedGroup;
  /** Models at that time. */
  readonly models: ModelCalls;
  /** Messages in the chat for this session; undefined for side sessions and removed agents. */
  readonly hears: Addressee | undefined;
  /** Reason why it cannot run. */
  readonly fault?: string | undefined;
  /** Somebody behind it is not heard: the same as the fault, and messages of the others wait again when it ends. */
  readonly refusal?: string | undefined;
  /** First step of a new turn; undefined when resuming. */
  readonly firstStep?: Step;
}

/** Which turn of which session an event tells of. */
export function turnIdsOf({ turn, session, group }: TurnScope): {
  readonly group: string;
  readonly session: string;
  readonly turn: string;
} {
  return { group: group.name, session: session.id, turn: turn.id };
}

/** The conversation, and how it is answered. */
export type ConversationScope = Pick<TurnScope, "turn" | "group" | "session" | "settings" | "models">;
