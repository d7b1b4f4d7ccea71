import type { Group } from "../domain/chats/group.ts";
import type { Place } from "../domain/sandbox/place.ts";
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
  readonly place: Place;
  readonly lease: Lease;
  /** As configured when the work on the turn began. */
  readonly settings: ResolvedGroup;
  /** Of the same time. */
  readonly models: ModelCalls;
  /**
   * What is said in the chat goes to this session as far as it is for this; undefined: nothing does, as the session is
   * beside its agent's main one, or one of an agent that the group had before.
   */
  readonly hears: Addressee | undefined;
  /** Why it cannot be worked on. */
  readonly fault?: string | undefined;
  /** Of a turn that has just begun, what its messages said; undefined when resuming. */
  readonly firstStep?: Step;
}

/** Which turn of which session an event tells of. */
export function placeOf({ turn, session, group }: TurnScope): {
  readonly group: string;
  readonly session: string;
  readonly turn: string;
} {
  return { group: group.name, session: session.id, turn: turn.id };
}

/** What says which conversation is meant, and how it is answered. */
export type ConversationScope = Pick<TurnScope, "turn" | "group" | "session" | "settings" | "models">;
