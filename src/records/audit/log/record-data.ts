import { boundedData, boundedName } from "../../../lib/text/bounded-data.ts";
import type { AuditEntry } from "../event-records.ts";

/** The part of a record that its author decides about, shortened to the limits, as JSON that is safe on a terminal. */
export interface EntryFields {
  readonly type: string;
  readonly group: string | null;
  readonly session: string | null;
  readonly turn: string | null;
  readonly actor: string;
  readonly data: unknown;
}

/** `redact` takes secrets out of every string before it is shortened. Never throws, whatever `data` holds. */
export function entryFields(entry: AuditEntry, redact: (text: string) => string): EntryFields {
  const name = (text: string): string => boundedName(text, redact);
  return {
    type: entry.type,
    group: entry.group === undefined ? null : name(entry.group),
    session: entry.session === undefined ? null : name(entry.session),
    turn: entry.turn === undefined ? null : name(entry.turn),
    actor: name(entry.actor),
    data: boundedData(entry.data, redact),
  };
}
