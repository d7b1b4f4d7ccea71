import { appendFileSync, renameSync, statSync } from "node:fs";

/** Handling of a full file. */
export interface FullFile {
  /** The path that it gets. */
  readonly nextPath: () => string;
  /** It has that path now, and is not written anymore. Must not throw. */
  readonly closed?: (path: string) => void;
}

/**
 * A text file of bounded size: when it is full it gets another name, left out: `<name>.1` (the one before is lost), and
 * a new one begins. Writes at once and holds nothing open, so nothing has to be closed and nothing is lost when the
 * process dies. Never throws: what cannot be written (a full disk) is counted in `lostLines`.
 */
export class CappedFile {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #full: FullFile;
  #bytes: number;
  lostLines = 0;

  constructor(path: string, maxBytes: number, full: FullFile = { nextPath: () => `${path}.1` }) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#full = full;
    this.#bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Appends a line; `line` holds no line break. */
  append(line: string): void {
    const bytes = Buffer.byteLength(line) + 1;
    try {
      if (this.#bytes > 0 && this.#bytes + bytes > this.#maxBytes) this.#close();
      appendFileSync(this.#path, `${line}\n`, { mode: 0o600 });
      this.#bytes += bytes;
    } catch {
      this.lostLines += 1;
    }
  }

  #close(): void {
    const path = this.#full.nextPath();
    renameSync(this.#path, path);
    this.#bytes = 0;
    this.#full.closed?.(path);
  }
}
