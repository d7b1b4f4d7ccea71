/**
 * The rows behind `after`, at most `limit` of them; those from before `before` (milliseconds since 1970) are too old.
 */
export interface PruneWindow {
  readonly after: number;
  readonly limit: number;
  readonly before: number;
}

export interface PrunedWindow {
  /** Number of pruned rows. */
  readonly pruned: number;
  /** Beginning of the next window; undefined when nothing older follows. */
  readonly next: number | undefined;
}

/** Prunes old data. Each call handles one window of rows in a transaction, so that nobody waits long for the store. */
export interface RetentionStore {
  /**
   * Empties texts, quotes, attachments and senders' names of messages. The rows stay, so a message that comes again is
   * still a duplicate. Left alone are those that wait or belong to a running turn, commands that have not been carried
   * out, and what a next turn may be shown: after the session's cursor and among the newest `keepNewest` of its group.
   */
  messages(window: PruneWindow, keepNewest: number): Promise<PrunedWindow>;
  /** Removes steps of conversations that have ended. */
  steps(window: PruneWindow): Promise<PrunedWindow>;
  /**
   * Empties texts of work that was settled or dropped. The rows stay, so that a cause that is reported again is still a
   * duplicate.
   */
  work(window: PruneWindow): Promise<PrunedWindow>;
  /** Empties texts, files and reactions of messages that went out or were given up. The rows stay. */
  replies(window: PruneWindow): Promise<PrunedWindow>;
  /**
   * Removes calls that people were asked about and that were decided before then, of turns that have ended, and what
   * was allowed for longer but not for good and is over since then; at most `limit` of each.
   */
  approvals(before: number, limit: number): Promise<number>;
  /** Removes at most `limit` chats that are no group, have not asked to be one, and were last seen before then. */
  strangers(before: number, limit: number): Promise<number>;
  /** Removes what was counted on days before these (UTC, such as `2026-01-15`), at most `limit` rows of each kind. */
  days(before: { readonly usage: string; readonly intake: string }, limit: number): Promise<number>;
}
