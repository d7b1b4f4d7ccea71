import type { Readable, Writable } from "node:stream";
import { deserialize, serialize } from "node:v8";
import type { MessagePort, Worker } from "node:worker_threads";

import { parseJson } from "../lib/text/parse-json.ts";
import { type Encoding, type Frame, frames } from "./protocol.ts";

/** Carries frames to the other end. */
export interface Wire {
  /** False when the other end is gone. */
  send(frame: Frame, transfer?: readonly ArrayBuffer[]): boolean;
  /** Bytes that the other end has not taken yet. */
  readonly waitingBytes: number;
}

/** Takes what comes from the other end. */
export interface WireReader {
  readonly onFrame: (frame: Frame) => void;
  /** The other end breaks the rules; nothing more is read. */
  readonly onFault: (reason: string) => void;
}

const lengthBytes = 4;
const lineEnd = 10;

/** Frames as bytes of streams: one to a line of JSON, or a clone after its length. */
export function streamWire(
  { input, output }: { readonly input: Writable; readonly output: Readable },
  { encoding, longest }: { readonly encoding: Encoding; readonly longest: number },
  reader: WireReader,
): Wire {
  const frameReader = encoding === "json" ? new JsonReader(longest, reader) : new CloneReader(longest, reader);
  const pack = encoding === "json" ? packJson : packClone;
  output.on("data", (chunk: Buffer) => frameReader.read(chunk));
  return {
    send: (frame) => {
      if (input.destroyed || input.writableEnded) return false;
      input.write(pack(frame));
      return true;
    },
    get waitingBytes() {
      return input.writableLength;
    },
  };
}

/** Frames as messages of a thread. */
export function threadWire(port: MessagePort | Worker, { onFrame, onFault }: WireReader): Wire {
  port.on("message", (message: unknown) => {
    const frame = frameOf(message);
    if (frame) onFrame(frame);
    else onFault(noMessage);
  });
  return {
    send: (frame, transfer) => {
      port.postMessage(frame, transfer && [...transfer]);
      return true;
    },
    waitingBytes: 0,
  };
}

const noMessage = "it sent what is no message";

function frameOf(value: unknown): Frame | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const kind = (Object.keys(frames) as (keyof typeof frames)[]).find((key) => Object.hasOwn(value, key));
  return kind === undefined ? undefined : frames[kind].safeParse(value).data;
}

function packJson(frame: Frame): string {
  return `${JSON.stringify(frame)}\n`;
}

function packClone(frame: Frame): Buffer {
  const body = serialize(frame);
  const length = Buffer.allocUnsafe(lengthBytes);
  length.writeUInt32LE(body.length);
  return Buffer.concat([length, body]);
}

/** Reads frames from pieces of a stream, until the other end breaks the rules. */
abstract class FrameReader {
  protected readonly longest: number;
  readonly #reader: WireReader;
  #pieces: Buffer[] = [];
  #isOver = false;
  protected bytes = 0;

  constructor(longest: number, reader: WireReader) {
    this.longest = longest;
    this.#reader = reader;
  }

  abstract read(chunk: Buffer): void;

  protected get isOver(): boolean {
    return this.#isOver;
  }

  protected add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.bytes += piece.length;
  }

  protected take(): Buffer {
    const [first = Buffer.alloc(0)] = this.#pieces;
    const whole = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    [this.#pieces, this.bytes] = [[], 0];
    return whole;
  }

  protected pass(value: unknown): void {
    const frame = frameOf(value);
    if (frame) this.#reader.onFrame(frame);
    else this.#fail(noMessage);
  }

  protected failTooLong(): void {
    this.#fail(`it sent a message of more than ${this.longest} bytes`);
  }

  #fail(reason: string): void {
    this.#isOver = true;
    this.#pieces = [];
    this.#reader.onFault(reason);
  }
}

class JsonReader extends FrameReader {
  read(chunk: Buffer): void {
    let rest = chunk;
    while (!this.isOver) {
      const end = rest.indexOf(lineEnd);
      const piece = end < 0 ? rest : rest.subarray(0, end);
      if (this.bytes + piece.length > this.longest) return this.failTooLong();
      this.add(piece);
      if (end < 0) return;
      rest = rest.subarray(end + 1);
      this.pass(parseJson(this.take().toString("utf8")));
    }
  }
}

class CloneReader extends FrameReader {
  /** Bytes of the message that comes; undefined while its length does. */
  #wanted: number | undefined;

  read(chunk: Buffer): void {
    this.add(chunk);
    while (!this.isOver && this.bytes >= (this.#wanted ?? lengthBytes)) {
      const end = this.#wanted ?? lengthBytes;
      const bytes = this.take();
      if (bytes.length > end) this.add(bytes.subarray(end));
      if (this.#wanted === undefined) {
        this.#wanted = bytes.readUInt32LE();
        if (this.#wanted > this.longest) return this.failTooLong();
      } else {
        this.#wanted = undefined;
        this.pass(clonedFrom(bytes.subarray(0, end)));
      }
    }
  }
}

function clonedFrom(bytes: Buffer): unknown {
  try {
    return deserialize(bytes);
  } catch {
    return undefined;
  }
}
