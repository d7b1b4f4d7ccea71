import { execFile } from "node:child_process";
import { constants, closeSync, openSync, rmSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

/**
 * A real pipe for a shell's output: Node gives children socket pairs, on which `echo x >/dev/stderr` fails. Always
 * read, so that background programs neither block nor die by writing.
 */
export class OutputPipe implements Disposable {
  /** For the child; to be closed here once the child has it. */
  readonly childDescriptor: number;
  readonly #ownDescriptor: number;
  readonly #socket: Socket;

  private constructor(path: string) {
    this.#socket = new Socket({
      fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK),
      readable: true,
      writable: false,
    });
    this.childDescriptor = openSync(path, constants.O_WRONLY);
    this.#ownDescriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    this.#socket.on("error", () => {});
  }

  /** `folder` holds the pipe's name for a moment. */
  static async open(folder: string): Promise<OutputPipe> {
    const path = join(folder, `.output-${process.pid}-${performance.now()}`);
    await promisify(execFile)("mkfifo", ["-m", "600", path]);
    try {
      return new OutputPipe(path);
    } finally {
      rmSync(path, { force: true });
    }
  }

  /** From now on it is read. */
  onChunk(listener: (chunk: Buffer) => void): void {
    this.#socket.on("data", listener);
  }

  closeChildDescriptor(): void {
    closeSync(this.childDescriptor);
  }

  /**
   * Puts bytes behind everything that has been written so far. False when the pipe is full: try again when it was read.
   */
  write(text: string): boolean {
    try {
      return writeSync(this.#ownDescriptor, text) === text.length;
    } catch {
      return false;
    }
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
    closeSync(this.#ownDescriptor);
  }
}
