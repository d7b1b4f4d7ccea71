/** A place in which a group works, of those that all groups share: `held → away → held …`, until it is disposed of. */
export interface WorkSlot extends Disposable {
  /**
   * Leaves the place to somebody else until `claim`. While too many are away it is kept, and left as soon as possible.
   */
  leave(): void;
  /**
   * To be called before each piece of work: resolves when the place is held; at once, unless it was left, or others
   * wait and it was held for long. Rejects with the signal's reason when that aborts first.
   */
  claim(signal: AbortSignal): Promise<void>;
  /**
   * `end` is called, at most once, when others wait and get no place: the work has to end soon. Disposing takes that
   * back.
   */
  overdue(end: () => void): Disposable;
}
