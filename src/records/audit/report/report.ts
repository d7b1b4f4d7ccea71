import type { StoredMessage } from "../../../domain/chats/message.ts";
import { AppError } from "../../../lib/app-error.ts";
import { quotedName } from "../../../lib/text/plain-words.ts";
import type { ZoneClock } from "../../../lib/time/zone-clock.ts";
import { readAudit } from "../read.ts";
import type { AuditRecord } from "../record.ts";
import type { VerifyResult } from "../verify/verify.ts";
import { memberOf, type ReportEntry } from "./entry.ts";
import { FigureCount } from "./figures.ts";
import { isInReportRange, type ReportRange } from "./range.ts";
import type { ReportFormat, UsageRows } from "./report-format.ts";
import { reportVerdict } from "./report-verdict.ts";
import { sectionOf, sectionNames } from "./sections.ts";
import { Spool } from "./spool.ts";

/** Input of a report. */
export interface ReportOptions {
  /** Folder of the log. */
  readonly folder: string;
  /** Verification result: records after its fault are left out. */
  readonly verified: VerifyResult;
  readonly range: ReportRange;
  /** Group of the records; starts and ends of the host and the log's declarations are always included. */
  readonly group: string | undefined;
  readonly zone: ZoneClock;
  readonly format: ReportFormat;
  /** Name of a group's member; undefined when unknown. */
  readonly nameOf: (group: string, member: string) => string | undefined;
  /** Messages by store number; undefined when texts are not requested. */
  readonly messages: ((seqs: readonly number[]) => Promise<readonly StoredMessage[]>) | undefined;
  readonly usageRows: UsageRows | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Messages whose texts are asked for at once. */
const textsAtOnce = 200;

/**
 * A report on everything that is on record in a range, as text in pieces. The records are read once and are never all
 * in memory: what a section holds waits in a file. Throws AppError `audit_broken` where the log cannot be read although
 * verification found no fault.
 */
export async function* auditReport(options: ReportOptions): AsyncGenerator<string> {
  const { format, verified, range, group, zone, usageRows } = options;
  await using spool = await Spool.open();
  const figures = await collect(options, spool);
  yield format.head({
    createdAt: new Date(options.now).toISOString(),
    from: new Date(range.from).toISOString(),
    to: new Date(range.to).toISOString(),
    localFrom: zone.at(range.from),
    localTo: zone.at(range.to),
    timeZone: zone.zone,
    group: group ?? null,
    withTexts: options.messages !== undefined,
    verdict: reportVerdict(verified, figures),
    figures,
    usageRows: usageRows ?? null,
  });
  for (const section of sectionNames) {
    const count = spool.count(section);
    yield format.opens(section, count);
    yield* spool.read(section);
    yield format.closes(section, count);
  }
  yield format.end();
}

async function collect(options: ReportOptions, spool: Spool): Promise<ReturnType<FigureCount["result"]>> {
  const { range, group, zone, format } = options;
  const figures = new FigureCount(zone);
  const asked = new AskedEntries(options, spool);
  for await (const record of trustedRecords(options)) {
    const at = Date.parse(record.ts);
    if (!isInReportRange(range, at) || !concerns(record, group)) continue;
    figures.add(record, at);
    const section = sectionOf(record);
    if (section === "counted") continue;
    const entry = entryOf(options, record, at);
    if (section === "asked") await asked.add(entry);
    else await spool.add(section, format.entry(section, entry, spool.count(section)));
  }
  await asked.flush();
  return figures.result();
}

/** Those that verification found good, from the day on in which the range begins. */
async function* trustedRecords({ folder, verified, range }: ReportOptions): AsyncGenerator<AuditRecord> {
  if (verified.records === 0) return;
  const { head } = verified;
  const last = verified.ok ? (head?.seq ?? 0) : verified.records;
  try {
    for await (const record of readAudit({ folder, since: range.from })) {
      if (record.seq > last) return;
      yield record;
      if (record.seq === last) return;
    }
  } catch (error) {
    // Behind the fault there may be anything.
    if (verified.ok || !(error instanceof AppError && error.code === "audit_broken")) throw error;
  }
}

const ofEveryGroup: ReadonlySet<string> = new Set([
  "host-start",
  "host-stop",
  "audit-gap",
  "audit-recovered",
  "audit-broken",
  "store-older",
]);

function concerns(record: AuditRecord, group: string | undefined): boolean {
  return group === undefined || record.group === group || ofEveryGroup.has(record.type);
}

function entryOf({ zone, nameOf }: ReportOptions, record: AuditRecord, at: number): ReportEntry {
  const { seq, ts, type, group, session, turn, actor, data } = record;
  const member = group === null ? undefined : memberOf(actor);
  const name = group === null || member === undefined ? undefined : nameOf(group, member);
  return {
    record: seq,
    time: ts,
    local: zone.at(at),
    type,
    group,
    session,
    turn,
    actor,
    ...(name !== undefined && { name: quotedName(name) }),
    data,
  };
}

/** Entries of messages, which get their texts, many at once, before they are written. */
class AskedEntries {
  readonly #options: ReportOptions;
  readonly #spool: Spool;
  #waiting: ReportEntry[] = [];

  constructor(options: ReportOptions, spool: Spool) {
    this.#options = options;
    this.#spool = spool;
  }

  async add(entry: ReportEntry): Promise<void> {
    this.#waiting.push(entry);
    if (this.#waiting.length >= textsAtOnce) await this.flush();
  }

  async flush(): Promise<void> {
    const entries = this.#waiting;
    this.#waiting = [];
    const { messages, format } = this.#options;
    const seqs = entries.map(storeNumber).filter((seq) => seq !== undefined);
    const found = messages && new Map((await messages(seqs)).map((message) => [message.seq, message]));
    for (const entry of entries) {
      const told = found && entry.type === "message-in" ? { ...entry, text: textOf(entry, found) } : entry;
      await this.#spool.add("asked", format.entry("asked", told, this.#spool.count("asked")));
    }
  }
}

function storeNumber({ data }: ReportEntry): number | undefined {
  const seq = data["seq"];
  return typeof seq === "number" && Number.isSafeInteger(seq) ? seq : undefined;
}

/** Null where the store has no such message, or another one under its number: it may be an older copy. */
function textOf(entry: ReportEntry, found: ReadonlyMap<number, StoredMessage>): string | null {
  const message = found.get(storeNumber(entry) ?? 0);
  if (!message || message.pruned === true) return null;
  const isThis =
    message.group === entry.group &&
    message.id === entry.data["id"] &&
    message.chat === entry.data["chat"] &&
    message.sender.id === memberOf(entry.actor);
  return isThis ? message.text : null;
}
