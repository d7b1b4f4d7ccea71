import { pino } from "pino";

import { AuditLog } from "../../src/records/audit/log/log.ts";
import type { AuditEntry, AuditType } from "../../src/records/audit/event-records.ts";
import { prepareHome } from "../../src/config/home/home.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import { HandClock } from "../unit/records/audit/audit-home.ts";
import { openStoreAt } from "./open-store-at.ts";

/** A record of a type that the host may not have yet. */
export type AnyEntry = Omit<AuditEntry, "type"> & { readonly type: AuditType | (string & {}); readonly at?: string };

/** Writes these records, each at its time, as a host of this home would that has ended; `more` fills its store. */
export async function writeAudit(
  root: string,
  entries: readonly AnyEntry[],
  more?: (store: Store) => Promise<void>,
): Promise<void> {
  const { paths, instance } = await prepareHome(root);
  await using store = await openStoreAt(paths.database);
  const clock = new HandClock("2026-01-15T12:00:00.000Z");
  await using log = await AuditLog.open({
    folder: paths.audit,
    keyFolder: paths.keys,
    index: store.audit,
    clock,
    instance,
    logger: pino({ level: "silent" }),
  });
  for (const { at, ...entry } of entries) {
    if (at !== undefined) clock.set(at);
    // The log takes what it is given; which types there are is known to the compiler only.
    await log.append(entry as AuditEntry);
  }
  await more?.(store);
}
