/** Which turn does something, and in which chat its answer will be. */
export interface DeltaSource {
  readonly group: string;
  readonly session: string;
  readonly turn: string;
  /** The agent that writes, in a group with several. */
  readonly agent?: string | undefined;
  /** Left out: its answer goes to no chat. */
  readonly channel?: string | undefined;
  readonly chat?: string | undefined;
}

/** A piece of a turn's live progress, for watchers. Neither stored nor numbered. */
export type Delta = DeltaSource &
  (
    | { readonly type: "answer"; readonly text: string }
    /** Marks the answer so far as void: another try, or the next answer of the turn, begins. */
    | { readonly type: "reset" }
    /** In words for people. */
    | { readonly type: "doing"; readonly text: string }
    | { readonly type: "output"; readonly call: string; readonly tool: string; readonly text: string }
    /** The turn has ended, or waits: what it says is a message by now, or nothing. */
    | { readonly type: "over" }
  );

/** Some deltas were dropped, because their reader was too slow. */
export interface MissedDeltas {
  readonly type: "missed";
}
