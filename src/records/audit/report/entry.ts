import type { AuditRecord } from "../record.ts";

/** A record as a report tells it: its fields under the names of the report's JSON. */
export interface ReportEntry {
  /** Its number in the log. */
  readonly record: number;
  /** The host's clock, UTC. */
  readonly time: string;
  /** The same in the operator's zone. */
  readonly local: string;
  readonly type: string;
  readonly group: string | null;
  readonly session: string | null;
  readonly turn: string | null;
  readonly actor: string;
  /** Quoted name of a member; absent when unknown or not a member. */
  readonly name?: string | undefined;
  readonly data: AuditRecord["data"];
  /** Text of a message, if requested; null when no longer stored. */
  readonly text?: string | null | undefined;
}

const memberPrefix = "member:";

/** Id of the acting member; undefined for others. */
export function memberOf(actor: string): string | undefined {
  return actor.startsWith(memberPrefix) ? actor.slice(memberPrefix.length) : undefined;
}
