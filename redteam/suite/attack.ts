import type { AuditRecord } from "../../src/records/audit/record.ts";
import type { AuditType } from "../../src/records/audit/event-records.ts";
import type { Stage } from "./stage.ts";

/** Attackers: the agent's model in its container, a member of the chat, a program on the machine. */
export type AttackOrigin = "container" | "chat" | "program";

/** Evidence found by an attack. */
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
  /** The record must name this command of the tool `shell`, by its keyed hash. */
  readonly command?: string;
}

/** Explains why there are no records: the host process does not run during the attack. */
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
  /** Requires that the host's event loop stays below the limit and another group is answered meanwhile. */
  readonly hostStaysAwake?: boolean;
  /**
   * Its own limit for the time that the host's event loop is kept, in milliseconds of the host's own time. Where an
   * ordinary turn takes more than half of that, as on a machine that does much else, the limit is twice what such a
   * turn takes.
   */
  readonly longestLagMs?: number;
  /** Waits most of the time, on a separate host (`ownLog`), and so is played beside the scenes. */
  readonly waits?: boolean;
  /** Says planted secrets that other attacks look for: its scene is one of the last. */
  readonly saysSecrets?: boolean;
  /** Part of `crabpot doctor --deep`: takes a second or two and disturbs nothing. */
  readonly quick?: boolean;
  /** Played against a separate host whose group has a browser; skipped without such an image. */
  readonly needsBrowser?: boolean;
  /** Played against a separate host whose groups remember, share a folder and know people. */
  readonly needsMemory?: boolean;
  /** Reason why it cannot run here; undefined when it can. */
  readonly skip?: () => string | undefined;
  /** Rejecting counts as a failure of the case. */
  attempt(stage: Stage): Promise<Evidence>;
}

/** Verdict on one attack. */
export interface Verdict {
  readonly id: string;
  readonly title: string;
  readonly from: AttackOrigin;
  readonly expected: string;
  readonly seen: string;
  readonly audit: string;
  readonly verdict: "contained" | "FAILED" | "skipped";
  /** Faults, one sentence each. */
  readonly faults: readonly string[];
  readonly loopLagMs: number | undefined;
  readonly elapsedMs: number;
}
