import { join } from "node:path";

import type { HostEvent } from "../../src/domain/events/event.ts";
import { readAudit } from "../../src/records/audit/read.ts";
import type { AuditRecord } from "../../src/records/audit/record.ts";
import type { TurnReport } from "../../src/operations/turns/turn-view.ts";
import type { TestHost } from "./host.ts";
import { tailEvents } from "../../src/operations/events/operations.ts";
import { listTurns, showTurn } from "../../src/operations/turns/operations.ts";

/** The events of this type, or of one such as `turn.*`, that the running host has stored, oldest first. */
export async function eventsOf(
  host: TestHost,
  type: string,
  group?: string,
): Promise<(Pick<HostEvent, "type" | "group" | "actor" | "at"> & { readonly data: Record<string, unknown> })[]> {
  const query = { after: 0, last: 0, type, group };
  const told = await Array.fromAsync(host.control.follow(tailEvents, query));
  return told as unknown as Awaited<ReturnType<typeof eventsOf>>;
}

/** The records of this type in the audit log, oldest first: of one group, or of all. */
export async function recordsOf(host: TestHost, type: string, group?: string): Promise<AuditRecord[]> {
  const records = await Array.fromAsync(readAudit({ folder: join(host.home, "audit"), group }));
  return records.filter((record) => record.type === type);
}

/** The report of the newest turn, of one group or of all. */
export async function newestTurn(host: TestHost, group?: string): Promise<TurnReport> {
  const turns = await host.control.call(listTurns, { group, limit: 1 });
  return host.control.call(showTurn, { id: turns.at(-1)?.id ?? "", maxChars: 100_000 });
}
