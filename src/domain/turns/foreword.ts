import type { Group } from "../chats/group.ts";
import type { StoredMessage } from "../chats/message.ts";
import type { Origin } from "../people/origin.ts";
import type { Session } from "./session.ts";

/** Text that goes before the messages of a turn, and the origins that it brings into the turn. May be empty. */
export interface Foreword {
  readonly text: string;
  readonly origins: readonly Origin[];
}

/** A turn that is about to begin with these messages. */
export interface ComingTurn {
  readonly group: Pick<Group, "name" | "main" | "acting" | "agent">;
  readonly session: Session;
  readonly messages: readonly StoredMessage[];
  /** Writes a time by the group's clock. */
  readonly at: (time: number) => string;
}

/**
 * Looks up what goes before what is said, such as memories that fit; undefined: nothing. Never rejects, and takes a
 * fraction of a second at most.
 */
export type LookUpForeword = (coming: ComingTurn) => Promise<Foreword | undefined>;
