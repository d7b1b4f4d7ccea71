import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import type { Logger } from "pino";

import type { Fingerprint } from "../../../domain/fingerprint.ts";
import { AppError, toError } from "../../../lib/app-error.ts";
import { toLine } from "../../../lib/text/bounded-data.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { AuditIndex } from "../../../stores/contract/store.ts";
import { CheckpointWriter } from "./checkpoint-writer.ts";
import { DayFiles } from "./day-files.ts";
import { fingerprint } from "../fingerprint.ts";
import { openKeys } from "../keys.ts";
import { recordHash } from "../record.ts";
import { type EntryFields, entryFields } from "./record-data.ts";
import { type LogHead, recover } from "./recovery.ts";
import type { AuditEntry } from "../event-records.ts";

export interface AuditLogOptions {
  readonly folder: string;
  readonly keyFolder: string;
  readonly index: AuditIndex;
  readonly clock: Clock;
  /** The id of this home. */
  readonly instance: string;
  readonly logger: Logger;
  /** Removes secrets from a text; none by default. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Maximum age of an unsigned record. */
  readonly checkpointAfterMs?: number | undefined;
}

interface Pending {
  readonly fields: EntryFields;
  readonly at: number;
  readonly mono: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface Sealed {
  readonly line: Buffer;
  readonly seq: number;
  readonly hash: string;
  readonly type: string;
  readonly group: string | undefined;
}

/** Bounds of one write; records are at most 16 KiB, so it stays far below what recovery looks at. */
const maxBatch = 64;
/** Delay until the store is told about a record. */
const tellAfterMs = 200;

/**
 * The hash-chained log of everything the host does, one writer per home. Records are written in the order of the calls,
 * many waiting ones with one write and one sync. Each batch is also told to the store, which so witnesses against a log
 * that is cut or put back; and every so often the head is signed. docs/audit.md describes what is written.
 */
export class AuditLog implements AsyncDisposable {
  readonly #options: AuditLogOptions;
  readonly #files: DayFiles;
  readonly #checkpoints: CheckpointWriter;
  readonly #salt: Uint8Array;
  readonly #boot = randomUUID();
  #head: LogHead;
  #queue: Pending[] = [];
  #unindexed: Parameters<AuditIndex["append"]>[0][number][] = [];
  /** Records that were refused because they could not be written; the next one that can be says so. */
  #lost = 0;
  #running: Promise<void> | undefined;
  #telling: Promise<void> | undefined;
  #indexing: Promise<void> = Promise.resolve();
  readonly #closing = new AbortController();
  #closed = false;

  private constructor(
    options: AuditLogOptions,
    opened: { files: DayFiles; checkpoints: CheckpointWriter; salt: Uint8Array; head: LogHead },
  ) {
    this.#options = options;
    this.#files = opened.files;
    this.#checkpoints = opened.checkpoints;
    this.#salt = opened.salt;
    this.#head = opened.head;
  }

  /**
   * Continues the log, declaring in it any damage since its last end. Throws AppError `audit_broken` for unusable
   * folder or keys, `bad_input` for an invalid instance.
   */
  static async open(options: AuditLogOptions): Promise<AuditLog> {
    const { folder, keyFolder, index, instance, logger, clock } = options;
    if (!nameable.test(instance)) throw new AppError("bad_input", `"${instance}" cannot name an audit log.`);
    const keys = await openKeys(keyFolder, instance);
    const recovering = recover({ folder, index, instance, key: keys.verification });
    const { head, day, covered, noteHash, declarations } = await recovering.catch((error: unknown) => {
      throw unusable(folder, error);
    });
    const afterMs = options.checkpointAfterMs ?? 60_000;
    const onDue = (): void => log.#wake();
    const beforeSigning = (seq: number): Promise<void> => log.#tellBeforeSigning(seq);
    const signing = { folder, keys, clock, logger, afterMs, onDue, beforeSigning };
    const checkpoints = new CheckpointWriter(signing, { covered, noteHash });
    const log: AuditLog = new AuditLog(options, {
      files: new DayFiles(folder, day),
      checkpoints,
      salt: keys.salt,
      head,
    });
    if (head.seq > covered) checkpoints.written(head);
    try {
      for (const declaration of declarations) {
        const level = declaration.type === "audit-recovered" ? "warn" : "error";
        logger[level]({ data: declaration.data }, `the audit log declares ${declaration.type}`);
        await log.append(declaration);
      }
      return log;
    } catch (error) {
      await log[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * Resolves when the record is on disk. Rejects with AppError `audit_broken` when it could not be written: what it
   * announces must not be done then. A later append tries again, and declares how many records are missing.
   */
  append(entry: AuditEntry): Promise<void> {
    if (this.#closed) return Promise.reject(tooLate(entry.type));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { clock, redact = unchanged } = this.#options;
    const fields = entryFields(entry, redact);
    this.#queue.push({ fields, at: clock.now(), mono: Math.round(clock.monotonic()), resolve, reject });
    this.#wake();
    return promise;
  }

  /** Fingerprint of a text by people or models, for the log. */
  fingerprint(text: string): Fingerprint {
    return fingerprint(this.#salt, text);
  }

  /**
   * The last record that is on disk; `seq` 0 before the first one. Kept elsewhere, it is an anchor for the
   * verification.
   */
  get head(): LogHead {
    return this.#head;
  }

  /** Has what was appended before signed now, in the background. */
  signSoon(): void {
    this.#checkpoints.hasten();
    this.#wake();
  }

  /** Writes what was appended before, and signs it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#running;
    this.#closing.abort();
    await this.#telling;
    if (this.#checkpoints.unsigned) await this.#checkpoints.sign();
    await this.#checkpoints[Symbol.asyncDispose]();
    await this.#files[Symbol.asyncDispose]();
  }

  #wake(): void {
    this.#running ??= this.#run();
  }

  /** Never rejects. One at a time: what is waiting is written, then it ends. */
  async #run(): Promise<void> {
    // Callers in the same tick share the first write.
    await Promise.resolve();
    while (this.#queue.length > 0 || this.#checkpoints.due) {
      if (this.#queue.length > 0) await this.#writeBatch();
      if (this.#checkpoints.due) await this.#checkpoints.sign();
    }
    this.#running = undefined;
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#nextBatch();
    const day = dayOfTime(batch[0]?.at ?? 0);
    const sealed = this.#seal(batch);
    try {
      const file = await this.#files.append(day, Buffer.concat(sealed.map(({ line }) => line)));
      this.#unindexed.push(...sealed.map(({ seq, hash, type, group }) => ({ seq, hash, type, group, file })));
    } catch (cause) {
      this.#lost += batch.length;
      const failure = unusable(this.#options.folder, cause);
      for (const { reject } of batch) reject(failure);
      return;
    }
    this.#lost = 0;
    const { seq, hash } = sealed.at(-1) ?? this.#head;
    this.#head = { seq, hash };
    for (const { resolve } of batch) resolve();
    this.#checkpoints.written(this.#head);
    this.#telling ??= this.#tellIndex();
  }

  /** Pending records of one day, as each day has a separate file. */
  #nextBatch(): Pending[] {
    const next = this.#queue.slice(0, maxBatch);
    const day = dayOfTime(next[0]?.at ?? 0);
    const other = next.findIndex(({ at }) => dayOfTime(at) !== day);
    return this.#queue.splice(0, other < 0 ? next.length : other);
  }

  #seal(batch: readonly Pending[]): Sealed[] {
    const [first] = batch;
    const lost = {
      type: "audit-gap",
      actor: "host",
      data: { lost: this.#lost, reason: "could not be written" },
    } as const;
    const gap = first && this.#lost > 0 ? [{ ...first, fields: entryFields(lost, unchanged) }] : [];
    const sealed: Sealed[] = [];
    let { seq, hash } = this.#head;
    for (const { fields, at, mono } of [...gap, ...batch]) {
      seq += 1;
      const { type, group, session, turn, actor, data } = fields;
      const ts = new Date(at).toISOString();
      const text = toLine({
        v: 1,
        seq,
        ts,
        mono,
        boot: this.#boot,
        type,
        group,
        session,
        turn,
        actor,
        data,
        prev: hash,
      });
      hash = recordHash(Buffer.from(text));
      sealed.push({ line: Buffer.from(`${text}\n`), seq, hash, type, group: group ?? undefined });
    }
    return sealed;
  }

  /**
   * A moment later, many records at once: they are on disk, and telling each by itself would be most of what a record
   * costs. Never rejects: an index that fails only falls behind, and catches up with the next batch or at the next
   * start.
   */
  async #tellIndex(): Promise<void> {
    try {
      while (this.#unindexed.length > 0) {
        await delay(tellAfterMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
        await this.#index();
      }
    } catch (error) {
      const behind = this.#unindexed.length;
      this.#options.logger.warn({ err: toError(error), behind }, "the audit index is behind the log");
    }
    this.#telling = undefined;
  }

  /** Tells the store of all that is written; one call after the other. */
  #index(): Promise<void> {
    const telling = async (): Promise<void> => {
      const batch = this.#unindexed.slice();
      if (batch.length > 0) await this.#options.index.append(batch);
      this.#unindexed.splice(0, batch.length);
    };
    return (this.#indexing = this.#indexing.then(telling, telling));
  }

  /**
   * Tells the store before signing: a signed record unknown to the store would mean a restored store (`isStoreOlder`).
   */
  async #tellBeforeSigning(seq: number): Promise<void> {
    await this.#index();
    await this.#options.index.willSign(seq);
  }
}

/** Names of signing keys have no blanks and no plus signs. */
const nameable = /^[A-Za-z0-9._-]{1,64}$/;

function tooLate(type: string): AppError {
  return new AppError("audit_broken", `The audit log is closed: ${type} came too late.`);
}

const unchanged = (text: string): string => text;

function dayOfTime(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function unusable(folder: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError("audit_broken", `The audit log in ${folder} cannot be written: ${toError(cause).message}.`, {
    cause,
    fix: "check that the disk is not full and that the folder belongs to the host's user",
    passing: true,
  });
}
