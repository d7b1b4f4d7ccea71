import type { Group } from "../chats/group.ts";
import type { StoredMessage } from "../chats/message.ts";
import type { Sourced } from "../rights/sourced.ts";
import type { Session } from "./session.ts";

/** A turn that is about to begin with these messages. */
export interface ComingTurn {
  readonly group: Pick<Group, "name" | "main" | "acting" | "agent">;
  readonly session: Session;
  readonly messages: readonly StoredMessage[];
  /** Writes a time by the group's clock. */
  readonly at: (time: number) => string;
}

/**
 * Looks up what goes before what is said, such as memories that fit; undefined: nothing. An empty text only brings its
 * origins. Never rejects, and takes a fraction of a second at most.
 */
export type LookUpForeword = (coming: ComingTurn) => Promise<Sourced | undefined>;
