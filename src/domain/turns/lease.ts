/**
 * The right to work on a session's turns. `generation` rises whenever another owner gets it, and the store refuses what
 * an earlier one still writes: so of two hosts that both believe a session is theirs, one is told otherwise.
 */
export interface Lease {
  readonly session: string;
  /** Names one life of a host. */
  readonly owner: string;
  readonly generation: number;
  /** From then on another owner may have it, milliseconds since 1970. */
  readonly expiresAt: number;
}
