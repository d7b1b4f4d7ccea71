/** How often an agent looks by itself at what HEARTBEAT.md of its group says. */
export interface HeartbeatSettings {
  readonly everyMinutes: number;
  /**
   * What the clocks of the zone show at the first one of a day, and after the last one, as `08:00`; both undefined: all
   * day long.
   */
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
