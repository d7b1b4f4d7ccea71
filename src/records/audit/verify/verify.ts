import { join } from "node:path";

import { AppError } from "../../../lib/app-error.ts";
import type { AuditIndex } from "../../../stores/contract/store.ts";
import { readPublicKey, requireVerificationKey } from "../keys.ts";
import { checkpointsFile, dayOf, listDayFiles, readLines } from "../log-files.ts";
import { type AuditRecord, parseRecord } from "../record.ts";
import type { Checkpoint } from "../signed-note.ts";
import { isStoreOlder } from "../store-age.ts";
import { Chain, type ChainFault, type KnownRecord } from "./verify-chain.ts";
import { type CheckedNote, readCheckpoints } from "./verify-checkpoints.ts";
import { KeptOutputs } from "./verify-outputs.ts";
import { statements } from "./verify-statements.ts";

export interface VerifyOptions {
  readonly folder: string;
  /** Folder of the home's public key. */
  readonly keyFolder?: string | undefined;
  /** Text of a public key stored elsewhere; preferred to that of `keyFolder`. */
  readonly publicKey?: string | undefined;
  /** The store's knowledge of the log. */
  readonly index?: Pick<AuditIndex, "head" | "signed"> | undefined;
  /** Sessions' folders with closed container logs to verify. */
  readonly sessionsFolder?: string | undefined;
  /** A record noted outside of this machine, with at least 8 digits of its hash. */
  readonly anchor?: { readonly seq: number; readonly hash: string } | undefined;
}

/** A place where the log itself says that something is missing or was mended. */
export interface DeclaredGap {
  readonly seq: number;
  readonly type: string;
  readonly ts: string;
  readonly data: unknown;
}

export interface VerifyResult {
  /**
   * Nothing was changed, cut, put in or put back, as far as `proves` goes. A declared gap or an unsigned tail is no
   * fault.
   */
  readonly ok: boolean;
  /** Records that were found good, from the first one on. */
  readonly records: number;
  /** The last record that was read and fits. Kept elsewhere, it is an anchor for later. */
  readonly head: { readonly seq: number; readonly hash: string } | undefined;
  /** Key that signed the checkpoints: the name in its public key. */
  readonly signer: string | undefined;
  /** Checkpoints that were found good. */
  readonly checkpoints: number;
  /** Closed logs of containers that are as they were. */
  readonly outputs: number;
  /** First wrong record; nothing from there on can be trusted. */
  readonly firstBadSeq?: number;
  readonly file?: string;
  readonly line?: number;
  readonly reason?: string;
  /** Records after the last checkpoint. */
  readonly unanchoredTail: number;
  /** Ends of files that a crash, or a write that goes on just now, left without their end. */
  readonly unfinished: readonly { readonly file: string; readonly bytes: number }[];
  readonly gaps: readonly DeclaredGap[];
  readonly proves: readonly string[];
  readonly doesNotProve: readonly string[];
}

/**
 * Reads the whole log, in constant memory, and compares it with its checkpoints, with the store and with an anchor,
 * whichever are given. Works beside a running host and without one, and needs no network. What is wrong with the log is
 * the result; AppError `bad_input` only for a key or an anchor that is none.
 */
export async function verifyAudit(options: VerifyOptions): Promise<VerifyResult> {
  const { folder, keyFolder, anchor } = options;
  // Before the files are read: the log is always ahead of the store, so what the store knows now must be in it.
  const witness = await options.index?.head();
  const published = options.publicKey ?? (keyFolder === undefined ? undefined : await readPublicKey(keyFolder));
  const key = published === undefined ? undefined : requireVerificationKey(published);
  const signer = key?.name;
  const memories: KnownRecord[] = [];
  if (witness) memories.push({ ...witness, who: "the store" });
  if (anchor) memories.push({ seq: anchor.seq, hash: requireHash(anchor.hash), who: "the anchor" });
  const verification = new Verification(new Chain(memories, signer));
  // Closed also where a file of records cannot be read.
  await using notes = readCheckpoints(join(folder, checkpointsFile), key);
  await verification.read(folder, notes);
  await verification.compareOutputs(options);
  if (keyFolder !== undefined && !key) verification.missKey(keyFolder);
  if (options.index && key) await verification.compareAge(options.index);
  return verification.result({ store: witness !== undefined, anchor: anchor !== undefined, signer });
}

function requireHash(hash: string): string {
  if (/^[0-9a-f]{8,64}$/.test(hash)) return hash;
  throw new AppError("bad_input", `An anchor needs at least 8 hexadecimal digits of the record's hash, not "${hash}".`);
}

const declarations: ReadonlySet<string> = new Set(["audit-gap", "audit-recovered", "audit-broken", "store-older"]);

/** Maximum gaps, so that a forged log cannot make the result endless. */
const maxGaps = 100;

/**
 * A host signs every 256 records at the latest. This many without a checkpoint are not a tail, they have lost theirs.
 */
const maxUnsigned = 1_024;

class Verification {
  readonly #chain: Chain;
  readonly #gaps: DeclaredGap[] = [];
  readonly #unfinished: { file: string; bytes: number }[] = [];
  #fault: ChainFault | undefined;
  /** A bad checkpoint ends the reading of checkpoints, not that of the records: a bad record says more. */
  #noteFault: ChainFault | undefined;
  #ageFault: ChainFault | undefined;
  readonly #kept = new KeptOutputs();
  #outputFault: ChainFault | undefined;
  #outputs = 0;
  #checkpoints = 0;
  #covered = 0;

  constructor(chain: Chain) {
    this.#chain = chain;
  }

  async read(folder: string, notes: AsyncGenerator<CheckedNote>): Promise<void> {
    let note = await this.#nextNote(notes);
    for await (const record of this.#records(folder)) {
      while (note && note.size <= record.seq && !this.#fault) {
        this.#fault = this.#chain.compare(note);
        if (note.size === record.seq && !this.#fault) this.#cover(note);
        note = await this.#nextNote(notes);
      }
      if (this.#fault) break;
    }
    this.#fault ??= this.#chain.end(note);
    this.#noteFault ??= this.#tailWithoutNotes();
  }

  /** Asks the store after the checkpoints were read: a host that runs tells it first, then signs. */
  async compareAge(index: Pick<AuditIndex, "head" | "signed">): Promise<void> {
    const memory = { seq: (await index.head())?.seq ?? 0, signed: await index.signed() };
    if (!isStoreOlder(memory, this.#covered)) return;
    const reason = `the store is older than the log: it remembers record ${memory.seq}, and a checkpoint signs record ${this.#covered}`;
    this.#ageFault = { seq: memory.seq + 1, place: {}, reason };
  }

  /** Records behind a fault are not believed. */
  async compareOutputs({ sessionsFolder, folder }: Pick<VerifyOptions, "sessionsFolder" | "folder">): Promise<void> {
    if (sessionsFolder === undefined || this.#fault) return;
    const { good, fault } = await this.#kept.compare(sessionsFolder, folder);
    this.#outputs = good;
    this.#outputFault = fault;
  }

  missKey(keyFolder: string): void {
    if (this.#checkpoints === 0) return;
    this.#noteFault = { seq: 1, place: {}, reason: `the public key of the log is missing in ${keyFolder}` };
  }

  result(used: { store: boolean; anchor: boolean; signer: string | undefined }): VerifyResult {
    const { head, good, declared } = this.#chain;
    const [chainFault] = [this.#fault, declared, this.#noteFault, this.#ageFault]
      .filter((found) => found !== undefined)
      .toSorted((a, b) => a.seq - b.seq);
    const fault = chainFault ?? this.#outputFault;
    // A log of a container that was changed says nothing of the records.
    const records = chainFault ? Math.min(good, chainFault.seq - 1) : good;
    const unsigned = Math.max(0, (head?.seq ?? 0) - this.#covered);
    return {
      ok: !fault,
      records,
      head,
      signer: used.signer,
      checkpoints: this.#checkpoints,
      outputs: this.#outputs,
      ...(fault && { firstBadSeq: fault.seq, ...fault.place, reason: fault.reason }),
      unanchoredTail: unsigned,
      unfinished: this.#unfinished,
      gaps: this.#gaps,
      ...statements({
        ...used,
        key: used.signer !== undefined,
        ok: !chainFault,
        records,
        covered: this.#covered,
        unsigned,
      }),
    };
  }

  /** The records that fit, of all files; ends at the first fault. */
  async *#records(folder: string): AsyncGenerator<AuditRecord> {
    const files = await listDayFiles(folder);
    for (const file of files) {
      for await (const { bytes, number, end } of readLines(join(folder, file))) {
        if (end === "file" && file === files.at(-1)) {
          this.#unfinished.push({ file, bytes: bytes.length });
          return;
        }
        const record = end === "line-feed" ? parseRecord(bytes) : undefined;
        const place = { file, line: number };
        this.#fault = record
          ? this.#chain.accept(record, bytes, { ...place, day: dayOf(file) ?? "" })
          : this.#chain.noRecord(place);
        if (!record || this.#fault) return;
        if (this.#chain.isSuspicious) continue;
        this.#noteGap(record);
        this.#kept.note(record);
        yield record;
      }
    }
  }

  #cover({ size }: Checkpoint): void {
    this.#checkpoints += 1;
    this.#covered = size;
  }

  #noteGap({ seq, type, ts, data }: AuditRecord): void {
    if (declarations.has(type) && this.#gaps.length < maxGaps) this.#gaps.push({ seq, type, ts, data });
  }

  #tailWithoutNotes(): ChainFault | undefined {
    const last = this.#chain.head?.seq ?? 0;
    if (last - this.#covered <= maxUnsigned) return undefined;
    const reason = `no checkpoint signs the records ${this.#covered + 1} to ${last}: checkpoints were removed, or signing fails`;
    return { seq: this.#covered + 1, place: { file: checkpointsFile }, reason };
  }

  async #nextNote(notes: AsyncGenerator<CheckedNote>): Promise<Checkpoint | undefined> {
    const { value, done } = await notes.next();
    if (done === true) return undefined;
    if (value.kind === "note") return value.checkpoint;
    if (value.kind === "unfinished") this.#unfinished.push({ file: checkpointsFile, bytes: value.bytes });
    else
      this.#noteFault = {
        seq: this.#covered + 1,
        place: { file: checkpointsFile, line: value.line },
        reason: value.reason,
      };
    return undefined;
  }
}
