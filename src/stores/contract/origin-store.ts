import type { FolderOrigin, Origin } from "../../domain/people/origin.ts";
import type { Work } from "../../domain/work/work.ts";

/** Who asks in a turn, and what it has read, as it is now. */
export interface TurnProvenance {
  /** Senders of the messages that it answers, each once. */
  readonly senders: readonly { readonly channel: string; readonly id: string }[];
  /** What it was begun for, where that is no message. */
  readonly work: Pick<Work, "requester" | "origin" | "role"> | undefined;
  readonly origins: readonly Origin[];
}

/** What turns have read, and what the folders of groups carry of it. Steps add to both: see `NewStep.exposure`. */
export interface OriginStore {
  /** Of a turn with its conversation before it. AppError `not_found` where there is no such turn. */
  provenance(turn: string): Promise<TurnProvenance>;
  /** Of the newest turn of a session, so of all of its conversation; none where it has no turn. */
  ofSession(session: string): Promise<readonly Origin[]>;
  /** The turn, which runs, has read these, too. No effect for what it has read already. */
  note(turn: string, origins: readonly Origin[]): Promise<void>;
  /** In the order of `origins`. */
  ofFolder(group: string): Promise<readonly FolderOrigin[]>;
  /**
   * Something from there has come into containers of the group: noted of its folder, and of the newest turn of each of
   * its sessions that is not archived, also of one that has ended, because its conversation goes on in the same
   * container.
   */
  reach(group: string, origin: Origin, at: number): Promise<void>;
  /** Lets the folder carry this one no more, or none at all. Returns what it carried of it. Turns keep theirs. */
  clearFolder(group: string, origin: Origin | undefined): Promise<readonly Origin[]>;
}
