import { connect } from "node:net";

/** An answer over a Unix socket: its status, and its body piece by piece. */
export interface SocketAnswer extends AsyncIterable<Buffer> {
  readonly statusCode: number;
  /** Ends the connection. */
  destroy(): void;
}

interface Post {
  readonly socketPath: string;
  readonly path: string;
  /** JSON */
  readonly body: string;
  readonly authorization: string;
  /** Time without a byte after which `tooSilent` is thrown; 0: however long it takes. */
  readonly silenceMs: number;
  readonly tooSilent: Error;
}

const endOfLine = "\r\n";
/** Bytes that a head, or the line before a chunk, may have; Node takes as many. */
const longestHead = 16 * 1024;

/**
 * Posts JSON over a Unix socket by HTTP/1.1. `node:http` would do the same, but loading it takes a third of what an
 * empty Node takes, at each start of a command. Resolves with the head of the answer.
 */
export async function postToSocket({
  socketPath,
  path,
  body,
  authorization,
  silenceMs,
  tooSilent,
}: Post): Promise<SocketAnswer> {
  const socket = connect(socketPath);
  socket.setTimeout(silenceMs, () => socket.destroy(tooSilent));
  const head = [
    `POST ${path} HTTP/1.1`,
    "host: localhost",
    "connection: close",
    `authorization: ${authorization}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.write([...head, "", body].join(endOfLine));
  const bytes = new ByteReader(socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>);
  const [status = "", ...fields] = (await bytes.until(endOfLine.repeat(2))).split(endOfLine);
  return {
    statusCode: Number(status.split(" ")[1]),
    destroy: () => void socket.destroy(),
    [Symbol.asyncIterator]: () => bodyOf(bytes, fields),
  };
}

async function* bodyOf(bytes: ByteReader, fields: readonly string[]): AsyncGenerator<Buffer, undefined> {
  const valueOf = (name: string): string | undefined =>
    fields.find((field) => field.toLowerCase().startsWith(`${name}:`))?.slice(name.length + 1);
  const length = valueOf("content-length");
  if (length !== undefined) return void (yield await bytes.take(Number(length)));
  for (let size = await nextSize(bytes); size !== 0; size = await nextSize(bytes)) {
    yield await bytes.take(size);
    await bytes.until(endOfLine);
  }
  return undefined;
}

/** The size of the chunk that follows; 0 after the last. */
async function nextSize(bytes: ByteReader): Promise<number> {
  return Number.parseInt(await bytes.until(endOfLine), 16);
}

/** Reads bytes up to a mark or by number. Throws when they end before. */
class ByteReader {
  readonly #pieces: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncIterator<Buffer>) {
    this.#pieces = pieces;
  }

  /** Text before the mark, which is passed over. */
  async until(mark: string): Promise<string> {
    let at = this.#rest.indexOf(mark);
    for (; at < 0 && this.#rest.length <= longestHead; at = this.#rest.indexOf(mark))
      this.#rest = Buffer.concat([this.#rest, await this.#next()]);
    if (at < 0 || at > longestHead) throw new Error(`the answer has a head of more than ${longestHead} bytes`);
    const text = this.#rest.toString("latin1", 0, at);
    this.#rest = this.#rest.subarray(at + mark.length);
    return text;
  }

  async take(count: number): Promise<Buffer> {
    const pieces = [this.#rest];
    let size = this.#rest.length;
    for (; size < count; size += this.#rest.length) {
      this.#rest = await this.#next();
      pieces.push(this.#rest);
    }
    const all = pieces.length === 1 ? this.#rest : Buffer.concat(pieces);
    this.#rest = all.subarray(count);
    return all.subarray(0, count);
  }

  async #next(): Promise<Buffer> {
    const { value, done } = await this.#pieces.next();
    if (done === true) throw Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
    return value;
  }
}
