import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

import { limits } from "../../../src/protocol/limits.ts";
import { decodeText } from "../text.ts";

/** Two of these are kept of each job: the home is a small file system in memory. */
const segmentBytes = 4 * 1024 * 1024;
/** Bytes kept for display, at up to four per character. */
const tailBytes = 4 * limits.toolOutputChars;

/**
 * A job's output: its end in memory, for display, and the last megabytes in two rotating files. Never throws: a full
 * disk must not end a job.
 */
export class JobOutput {
  readonly path: string;
  readonly #earlier: string;
  #descriptor: number | undefined;
  #segmentBytes = 0;
  #tail: Buffer = Buffer.alloc(0);
  #problem: string | undefined;

  constructor(folder: string, id: string) {
    this.path = join(folder, `${id}.txt`);
    this.#earlier = join(folder, `${id}.earlier.txt`);
    this.#attempt(() => {
      mkdirSync(folder, { recursive: true });
      this.#descriptor = openSync(this.path, "w", 0o600);
    });
  }

  /** Synchronous, so that a job that prints faster than the disk writes is slowed down instead of buffered. */
  write(chunk: Uint8Array): void {
    this.#tail = Buffer.concat([this.#tail, chunk]).subarray(-tailBytes);
    for (let at = 0; at < chunk.length; at += segmentBytes) this.#store(chunk.subarray(at, at + segmentBytes));
  }

  /** The last lines, within a number of characters. */
  lastLines(count: number, maxChars: number): string {
    const lines = decodeText(this.#tail).replace(/\n$/, "").split("\n");
    return lines.slice(-count).join("\n").slice(-maxChars).toWellFormed();
  }

  /** In words, where the output can be read. */
  get whereabouts(): string {
    if (this.#problem !== undefined) return `its output could not be kept in a file: ${this.#problem}`;
    return `its output is in ${this.path}`;
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  remove(): void {
    this.close();
    for (const path of [this.path, this.#earlier]) rmSync(path, { force: true });
  }

  #store(part: Uint8Array): void {
    if (this.#descriptor === undefined) return;
    this.#attempt(() => {
      if (this.#segmentBytes + part.length > segmentBytes) this.#beginSegment();
      if (this.#descriptor !== undefined) writeSync(this.#descriptor, part);
      this.#segmentBytes += part.length;
    });
  }

  #beginSegment(): void {
    this.close();
    renameSync(this.path, this.#earlier);
    this.#descriptor = openSync(this.path, "w", 0o600);
    this.#segmentBytes = 0;
  }

  #attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#problem = String(error);
      this.close();
    }
  }
}
