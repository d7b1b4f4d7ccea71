import type { FolderOrigin, Origin } from "../../domain/people/origin.ts";
import type { Lineage } from "../../domain/rights/lineage.ts";

/** Lineages of turns, and origins of groups' folders. Steps add to both: see `NewStep.exposure`. */
export interface OriginStore {
  /**
   * Lineage of a turn: of all that it answers so far, with what it and its conversation before it have read. AppError
   * `not_found` for an unknown turn.
   */
  lineage(turn: string): Promise<Lineage>;
  /** Origins of a session's newest turn, and so of its whole conversation; empty without turns. */
  ofSession(session: string): Promise<readonly Origin[]>;
  /** The turn has read these, too, and what folders of these groups carry. No effect for what it has read already. */
  note(turn: string, origins: readonly Origin[], folders?: readonly string[]): Promise<void>;
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
