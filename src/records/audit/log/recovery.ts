import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

import type { AuditIndex } from "../../../stores/contract/store.ts";
import { recoverCheckpoints } from "./checkpoint-recovery.ts";
import { cutTail, lastLines } from "./file-tail.ts";
import { catchUpIndex } from "./index-recovery.ts";
import { dayOf, listDayFiles } from "../log-files.ts";
import { genesisHash, parseRecord, recordHash } from "../record.ts";
import type { VerificationKey } from "../signed-note.ts";
import { isStoreOlder } from "../store-age.ts";
import type { AuditEntry } from "../event-records.ts";

/** Position at which the log continues. */
export interface LogHead {
  readonly seq: number;
  readonly hash: string;
}

export interface Recovered {
  readonly head: LogHead;
  /** Day of the newest file: records never go to an older one. */
  readonly day: string;
  /** The last signed note: how far it covers the log, and its hash. */
  readonly covered: number;
  readonly noteHash: string;
  /** Declarations about the log itself, written first. */
  readonly declarations: readonly AuditEntry[];
}

/**
 * Makes the files fit to be appended to. What a crash left half-written is set aside and declared. When the log is
 * shorter than, or different from, what the store or a signed note remembers, that is declared as `audit-broken`, and
 * the numbers go on after everything that is remembered: the host may run, but verification stays red from then on. So
 * it is when the store is older than the log, which is declared as `store-older`.
 */
export async function recover(options: {
  readonly folder: string;
  readonly index: AuditIndex;
  readonly instance: string;
  readonly key: VerificationKey;
}): Promise<Recovered> {
  const { folder, index, instance, key } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const tail = await recoverTail(folder);
  const notes = await recoverCheckpoints(folder, key);
  const witness = await index.head();
  const memory = { seq: witness?.seq ?? 0, signed: await index.signed() };
  const known = Math.max(notes.covered, memory.seq);
  const broken = [...tail.broken, ...notes.broken, ...shorter(tail.seq, notes.covered, memory.seq)];
  const mismatch = await catchUpIndex({ folder, index, witness, lastSeq: tail.seq });
  if (mismatch !== undefined) broken.push(mismatch);
  const remembered = broken.length > 0 ? Math.max(tail.seq, known) : tail.seq;
  const genesis = genesisHash(instance);
  const isOlder = broken.length === 0 && isStoreOlder(memory, notes.covered);
  const older = { storeRecord: memory.seq, signedRecord: notes.covered, lastRecord: tail.seq };
  return {
    head: { seq: remembered, hash: tail.hash ?? genesis },
    day: tail.day,
    covered: notes.covered,
    noteHash: notes.noteHash ?? genesis,
    // The break first: only its record may leave numbers out.
    declarations: [
      ...(broken.length > 0 ? [declare("audit-broken", { reasons: broken, lastRecord: tail.seq, remembered })] : []),
      ...(isOlder ? [declare("store-older", older)] : []),
      ...[tail.cut, notes.cut].filter((cut) => cut !== undefined).map((cut) => declare("audit-recovered", cut)),
    ],
  };
}

function declare(type: AuditEntry["type"], data: AuditEntry["data"]): AuditEntry {
  return { type, actor: "host", data };
}

function shorter(seq: number, covered: number, witnessed: number): string[] {
  return [
    ...(covered > seq ? [`the log ends at record ${seq}, but a signed checkpoint covers ${covered}`] : []),
    ...(witnessed > seq ? [`the log ends at record ${seq}, but the store remembers ${witnessed}`] : []),
  ];
}

interface Tail {
  readonly seq: number;
  /** Undefined while there is no record. */
  readonly hash: string | undefined;
  readonly day: string;
  readonly cut: Readonly<Record<string, unknown>> | undefined;
  readonly broken: readonly string[];
}

async function recoverTail(folder: string): Promise<Tail> {
  let cut: Tail["cut"];
  for (const name of (await listDayFiles(folder)).toReversed()) {
    const path = join(folder, name);
    cut ??= await cutTail(path);
    const [last] = await lastLines(path, 1);
    const day = dayOf(name) ?? "";
    if (last === undefined) {
      // Made by a host that died before its first write; an older day may still come if the clock was set back.
      await rm(path);
      continue;
    }
    const record = parseRecord(last);
    const broken = record ? [] : [`the last line of ${name} is not a record`];
    return { seq: record?.seq ?? 0, hash: recordHash(last), day, cut, broken };
  }
  return { seq: 0, hash: undefined, day: "", cut, broken: [] };
}
