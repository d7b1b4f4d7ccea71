import type { SideSession } from "../../domain/turns/session.ts";
import type { NewWork, Work, WorkState } from "../../domain/work/work.ts";

/** A session with work that is due, and the group whose it is. */
export interface DueSession {
  readonly key: string;
  readonly group: string;
}

/** Place of stored work. */
export interface AddedWork {
  readonly seq: number;
  readonly id: string;
  readonly duplicate: boolean;
}

/** Work that is due, or will be. */
interface DueWorkReader {
  /** Number of waiting work items of this cause in a group. */
  dueCount(group: string, cause: NewWork["cause"]): Promise<number>;
  /** The oldest work of a session that is due by now. */
  due(session: string, now: number): Promise<Work | undefined>;
  /** Sessions that have work which is due by now, the one whose work has been due for longest first. */
  dueSessions(now: number): Promise<DueSession[]>;
  /** When the next work after now is due; undefined when there is none. */
  nextDueAt(now: number): Promise<number | undefined>;
}

/**
 * Work that is not a waiting message, each stored once under its id and its `dedupe`. Turns take and settle it: see
 * `TurnStore`.
 */
export interface WorkStore extends DueWorkReader {
  /**
   * The same in a session beside the group's main one, which is opened (see `SessionStore.open`) in the same moment
   * unless it is a duplicate.
   */
  addAside(
    work: Omit<NewWork, "group" | "session">,
    side: SideSession,
    at: number,
  ): Promise<AddedWork & { readonly session: string }>;
  /**
   * Stores it; an ephemeral session that was archived begins a new conversation for it. `duplicate`: work of this
   * `dedupe` was there before, nothing was changed, `seq` and `id` are the old one's. With `uniqueForMs` the name may
   * be used again when work of it is that old, and is the new one's then.
   */
  add(work: NewWork, at: number, options?: { readonly uniqueForMs?: number | undefined }): Promise<AddedWork>;
  /** True when work with this `dedupe` exists or existed. */
  isKnown(dedupe: string): Promise<boolean>;
  get(id: string): Promise<Work | undefined>;
  /** Turn ids with this prefix, in order, at most `limit`. */
  idsBeginningWith(prefix: string, limit: number): Promise<string[]>;
  /** Rows, newest first. */
  list(filter: {
    readonly group?: string | undefined;
    readonly state?: WorkState | undefined;
    readonly limit: number;
  }): Promise<Work[]>;
  /** Work that began this turn; undefined for a turn begun by messages. */
  ofTurn(turn: string): Promise<Work | undefined>;
  /** Puts the work of a failed turn back to `due`. Returns how much. */
  requeue(turn: string): Promise<number>;
  /** Drops work that no turn has taken. False, without effect, when it is no longer due. */
  drop(id: string, reason: string): Promise<boolean>;
}
