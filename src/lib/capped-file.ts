import { appendFileSync, renameSync, statSync } from "node:fs";

/**
 * A text file of bounded size: when it is full it becomes `<name>.1` (the one before is lost) and a new one begins. Writes
 * at once and holds nothing open, so nothing has to be closed and nothing is lost when the process dies. Never throws:
 * what cannot be written (a full disk) is counted in `lostLines`.
 */
export class CappedFile {
  readonly #path: string;
  readonly #maxBytes: number;
  #bytes: number;
  lostLines = 0;

  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Appends a line; `line` holds no line break. */
  append(line: string): void {
    const bytes = Buffer.byteLength(line) + 1;
    try {
      if (this.#bytes > 0 && this.#bytes + bytes > this.#maxBytes) {
        renameSync(this.#path, `${this.#path}.1`);
        this.#bytes = 0;
      }
      appendFileSync(this.#path, `${line}\n`, { mode: 0o600 });
      this.#bytes += bytes;
    } catch {
      this.lostLines += 1;
    }
  }
}
