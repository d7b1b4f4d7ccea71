import { join } from "node:path";

import type { Logger } from "pino";

import { toError } from "../../../lib/app-error.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { AppendOnlyFile } from "./append-only-file.ts";
import type { AuditKeys } from "../keys.ts";
import { checkpointsFile } from "../log-files.ts";
import type { LogHead } from "./recovery.ts";
import { noteHash, noteText, signatureLine } from "../signed-note.ts";

const recordsPerNote = 256;

interface CheckpointOptions {
  readonly folder: string;
  readonly keys: AuditKeys;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly afterMs: number;
  /** Resolves when the store has everything up to this record on the disk: only that is signed. */
  readonly beforeSigning: (seq: number) => Promise<void>;
  /** Called when `due` has become true by the passing of time. */
  readonly onDue: () => void;
}

/** Signs the log's head after a number of records, or a time after the first unsigned one. */
export class CheckpointWriter implements AsyncDisposable {
  readonly #options: CheckpointOptions;
  #covered: number;
  #previous: string;
  #head: LogHead | undefined;
  #file: AppendOnlyFile | undefined;
  #timer: NodeJS.Timeout | undefined;
  #late = false;
  #failed = false;

  /** `last` is the note that the first new one follows. */
  constructor(options: CheckpointOptions, last: { readonly covered: number; readonly noteHash: string }) {
    this.#options = options;
    this.#covered = last.covered;
    this.#previous = last.noteHash;
  }

  /** True when records are unsigned. */
  get unsigned(): boolean {
    return this.#head !== undefined && this.#head.seq > this.#covered;
  }

  /** True when it is time to sign. */
  get due(): boolean {
    const full = (this.#head?.seq ?? 0) - this.#covered >= recordsPerNote;
    return this.unsigned && (this.#late || (full && !this.#failed));
  }

  /** Takes note of the newest record that is on disk. */
  written(head: LogHead): void {
    this.#head = head;
    if (this.unsigned) this.#startTimer();
  }

  /** The next look at `due` finds that it is time. */
  hasten(): void {
    this.#late = true;
  }

  /** Signs the newest record. Never rejects: a note that could not be written is retried after the same time. */
  async sign(): Promise<void> {
    const { logger } = this.#options;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#late = false;
    if (this.#head === undefined) return;
    const { seq, hash } = this.#head;
    try {
      await this.#options.beforeSigning(seq);
      await this.#write({ seq, hash });
      this.#failed = false;
    } catch (error) {
      logger.warn({ err: toError(error) }, "the audit log's head could not be signed");
      this.#failed = true;
      this.#startTimer();
    }
  }

  async #write({ seq, hash }: LogHead): Promise<void> {
    const { folder, keys, clock } = this.#options;
    const text = noteText({
      origin: keys.verification.name,
      size: seq,
      head: hash,
      previous: this.#previous,
      time: new Date(clock.now()).toISOString(),
    });
    const note = `${text}\n${signatureLine(keys.verification, keys.sign(text))}\n`;
    this.#file ??= await AppendOnlyFile.open(join(folder, checkpointsFile));
    await this.#file.append(Buffer.from(`${note}\n`));
    this.#covered = seq;
    this.#previous = noteHash(note);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    await this.#file?.[Symbol.asyncDispose]();
  }

  #startTimer(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#late = true;
      this.#options.onDue();
    }, this.#options.afterMs).unref();
  }
}
