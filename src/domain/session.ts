/** One agent's conversation with one group. `key` is `agent:channel:peer`; `id` is a short hash of it, safe in paths and names. */
export interface Session {
  readonly id: string;
  readonly key: string;
  readonly group: string;
  readonly conversation: number;
  /** Number of the last container life that was started; rises by one for each. */
  readonly generation: number;
  /** Highest message `seq` that has been shown to the model. */
  readonly contextCursor: number;
  /** First step `seq` that is still sent to the model; moves forward in chunks. */
  readonly windowStart: number;
}

/** What the operator sees of a session's container. */
export interface HotContainer {
  readonly session: string;
  readonly group: string;
  readonly generation: number;
  readonly container: string;
  readonly name: string;
  /** `frozen`: idle, and without processor time until the next message. */
  readonly state: "starting" | "idle" | "frozen" | "busy" | "closing";
  readonly lastUsedAt: number;
}
