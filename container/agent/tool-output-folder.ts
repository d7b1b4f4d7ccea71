import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

const maxFileBytes = 8 * 1024 * 1024;
/** The home is a small file system in memory. */
const maxFiles = 4;

/** A file that takes the whole of a long output, up to a cap. Never throws: a full disk must not end a tool call. */
export interface ToolOutputFile {
  write(chunk: Buffer): void;
  /** Closes it and says in words where the output can be read. */
  close(): string;
}

/** `<home>/tool-output/1.txt`, `2.txt` …: the newest few of the outputs that were too long for a result. */
export class ToolOutputFolder {
  readonly #path: string;
  #counter = 0;

  constructor(path: string) {
    this.#path = path;
  }

  create(): ToolOutputFile {
    this.#counter += 1;
    const path = join(this.#path, `${this.#counter}.txt`);
    try {
      mkdirSync(this.#path, { recursive: true });
      this.#removeOldest();
      return new OpenFile(path, openSync(path, "w", 0o600));
    } catch (error) {
      return { write: () => {}, close: () => `the rest could not be kept: ${String(error)}` };
    }
  }

  #removeOldest(): void {
    const numbers = readdirSync(this.#path).map((name) => Number.parseInt(name, 10));
    for (const number of numbers.filter((one) => one <= this.#counter - maxFiles)) {
      rmSync(join(this.#path, `${number}.txt`), { force: true });
    }
  }
}

class OpenFile implements ToolOutputFile {
  readonly #path: string;
  readonly #descriptor: number;
  #bytes = 0;
  #problem: string | undefined;

  constructor(path: string, descriptor: number) {
    this.#path = path;
    this.#descriptor = descriptor;
  }

  /** Synchronous, so that a program that prints faster than the disk writes is slowed down instead of buffered. */
  write(chunk: Buffer): void {
    const part = chunk.subarray(0, maxFileBytes - this.#bytes);
    if (this.#problem !== undefined || part.length === 0) return;
    try {
      writeSync(this.#descriptor, part);
      this.#bytes += part.length;
    } catch (error) {
      this.#problem = String(error);
    }
  }

  close(): string {
    closeSync(this.#descriptor);
    if (this.#problem !== undefined)
      return `its first ${this.#bytes} bytes are in ${this.#path}, then: ${this.#problem}`;
    if (this.#bytes === maxFileBytes) return `the first ${maxFileBytes} bytes are in ${this.#path}`;
    return `the whole output is in ${this.#path}`;
  }
}
