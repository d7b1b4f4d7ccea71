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
  /** What a member calls itself, in quotation marks; absent where it is not known, or nobody's. */
  readonly name?: string | undefined;
  readonly data: AuditRecord["data"];
  /** Of a message, where texts are asked for; null: it is not kept any more. */
  readonly text?: string | null | undefined;
}

const memberPrefix = "member:";

/** The id of the member who did it; undefined: no member did. */
export function memberOf(actor: string): string | undefined {
  return actor.startsWith(memberPrefix) ? actor.slice(memberPrefix.length) : undefined;
}
