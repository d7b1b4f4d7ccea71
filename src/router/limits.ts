/** Bounds of the intake. */
export interface RouterLimits {
  /** Longest text, in UTF-16 code units. */
  readonly textChars: number;
  /** Messages of one group that may wait for the agent. */
  readonly waitingPerGroup: number;
  /** Messages of all groups together that may wait. */
  readonly waitingTotal: number;
  /** Messages of one sender in one group. */
  readonly perSenderPerMinute: number;
  /** What a channel is told to wait before it tries again. */
  readonly retryAfterS: number;
}

export const routerLimits: RouterLimits = {
  textChars: 65_536,
  waitingPerGroup: 1_000,
  waitingTotal: 10_000,
  perSenderPerMinute: 6000,
  retryAfterS: 5,
};
