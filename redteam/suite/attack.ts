import type { AuditRecord } from "../../src/records/audit/record.ts";
import type { AuditType } from "../../src/records/audit/event-records.ts";
import type { Stage } from "./stage.ts";

/** Who attacks: the agent's model from inside its container, a member of the chat, a program on the machine. */
export type AttackOrigin = "container" | "chat" | "program";

/** What an attack has brought to light. */
export interface Evidence {
  /** In words, for the table: what was seen, shortest first. */
  readonly seen: string;
  /** Whether the expected state was found. */
  readonly holds: boolean;
}

/** The record that must have come into the audit log during the attack. */
export interface WantedRecord {
  readonly type: AuditType;
  readonly where?: (record: AuditRecord) => boolean;
  /** The record has to tell of this very command of the tool `shell`, by its keyed hash. */
  readonly command?: string;
}

/**
 * The host process does not run during the attack, so nobody writes records; the sentence says what stands in for them.
 */
export interface NoRecord {
  readonly none: string;
}

/** One attack. The letter of its family is the first of its id. */
export interface Attack {
  readonly id: string;
  readonly title: string;
  readonly from: AttackOrigin;
  readonly expected: string;
  readonly audit: WantedRecord | NoRecord;
  /** Meanwhile the host's event loop must stay below the limit, and another group must be answered. */
  readonly hostStaysAwake?: boolean;
  /**
   * Its own limit for the time that the host's event loop is kept, in milliseconds of the host's own time. Where an ordinary
   * turn takes more than half of that, as on a machine that does much else, the limit is twice what such a turn takes.
   */
  readonly longestLagMs?: number;
  /**
   * With a host of its own (`ownLog`): it does next to nothing but wait for a time to come, and is played beside the
   * scenes.
   */
  readonly waits?: boolean;
  /** It has planted secrets said that other attacks look for: its scene is one of the last. */
  readonly saysSecrets?: boolean;
  /** A part of `crabpot doctor --deep`: takes a second or two and nothing else is disturbed. */
  readonly quick?: boolean;
  /**
   * It is played against a host of its own whose group has a browser; skipped where the engine has no image with one.
   */
  readonly needsBrowser?: boolean;
  /** Why it cannot be tried here; undefined when it can. */
  readonly skip?: () => string | undefined;
  /** Rejecting counts as a failure of the case. */
  attempt(stage: Stage): Promise<Evidence>;
}

/** What came of one attack. */
export interface Verdict {
  readonly id: string;
  readonly title: string;
  readonly from: AttackOrigin;
  readonly expected: string;
  readonly seen: string;
  readonly audit: string;
  readonly verdict: "contained" | "FAILED" | "skipped";
  /** What is wrong, one sentence each. */
  readonly faults: readonly string[];
  readonly loopLagMs: number | undefined;
  readonly elapsedMs: number;
}
