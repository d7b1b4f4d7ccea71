/** Schedule for reading HEARTBEAT.md of a group. */
export interface HeartbeatSettings {
  readonly everyMinutes: number;
  /** Local time of the day's first beat, and of its end, as `08:00`; undefined: all day. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Which models are asked; undefined: those of the group. */
  readonly route?: string | undefined;
}

/** The file in a group's folder that says what its agent is to look at by itself. */
export const heartbeatFile = "HEARTBEAT.md";

/** When a group's agent looks next. */
export interface NextHeartbeat {
  readonly group: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}
