import { mebibyte } from "../../lib/text/bytes.ts";

/** Budget of one day (UTC). */
export interface DayBudget {
  readonly messages: number;
  /** Bytes of texts, quotes, names and ids. */
  readonly bytes: number;
  readonly attachmentBytes: number;
}

/** Limits of a group's turns. */
export interface PaceLimits {
  /** Turns that begin within an hour; 0: as many as there are. */
  readonly turnsPerHour: number;
  /** Turns in a row that follow one another faster than people talk; 0: as many as there are. */
  readonly loopTurns: number;
}

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
  readonly perGroupPerDay: DayBudget;
  /** Budget of a member over all groups of a channel. */
  readonly perMemberPerDay: DayBudget;
  /** Seconds after which a channel should retry. */
  readonly retryAfterS: number;
}

export const routerLimits: RouterLimits = {
  textChars: 65_536,
  waitingPerGroup: 1_000,
  waitingTotal: 10_000,
  perSenderPerMinute: 6000,
  perGroupPerDay: { messages: 20_000, bytes: 64 * mebibyte, attachmentBytes: 2048 * mebibyte },
  perMemberPerDay: { messages: 10_000, bytes: 16 * mebibyte, attachmentBytes: 512 * mebibyte },
  retryAfterS: 5,
};

/** The settings of the configuration that bound the intake. */
export interface IntakeSettings {
  readonly perSenderPerMinute: number;
  readonly waitingTotal: number;
  readonly perGroupPerDay: DaySettings;
  readonly perMemberPerDay: DaySettings;
}

interface DaySettings {
  readonly messages: number;
  readonly megabytes: number;
  readonly attachmentMegabytes: number;
}

/** Returns the bounds that follow from the settings. */
export function limitsOf(settings: IntakeSettings): RouterLimits {
  const { perSenderPerMinute, waitingTotal, perGroupPerDay, perMemberPerDay } = settings;
  return {
    ...routerLimits,
    perSenderPerMinute,
    waitingTotal,
    perGroupPerDay: inBytes(perGroupPerDay),
    perMemberPerDay: inBytes(perMemberPerDay),
  };
}

function inBytes({ messages, megabytes, attachmentMegabytes }: DaySettings): DayBudget {
  return { messages, bytes: megabytes * mebibyte, attachmentBytes: attachmentMegabytes * mebibyte };
}
