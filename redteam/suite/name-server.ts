import { createSocket } from "node:dgram";
import type { Socket } from "node:dgram";
import { once } from "node:events";

/** Answers for a name: its IPv4 addresses, a failure (2: server, 3: no such name), or silence. */
export type NameAnswer = readonly string[] | 2 | 3 | "silence";

/** A real DNS server on the loopback. */
export class NameServer implements AsyncDisposable {
  /** Names that were asked for, one for each question. */
  readonly asked: string[] = [];
  readonly #socket: Socket;
  readonly #answer: (name: string) => NameAnswer | Promise<NameAnswer>;

  private constructor(answer: (name: string) => NameAnswer | Promise<NameAnswer>) {
    this.#answer = answer;
    this.#socket = createSocket("udp4", (query, { address, port }) => {
      this.#reply(query).then(
        (reply) => reply && this.#socket.send(reply, port, address),
        () => undefined,
      );
    });
  }

  static async open(answer: (name: string) => NameAnswer | Promise<NameAnswer>): Promise<NameServer> {
    const server = new NameServer(answer);
    server.#socket.bind(0, "127.0.0.1");
    await once(server.#socket, "listening");
    return server;
  }

  /** Address for a resolver. */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  /** Resolves when a name that fits is asked for, now or later. */
  async untilAsked(fits: (name: string) => boolean): Promise<void> {
    while (!this.asked.some(fits)) await once(this.#socket, "message");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#socket, "close");
    this.#socket.close();
    await closed;
  }

  async #reply(query: Buffer): Promise<Buffer | undefined> {
    const { name, end } = readName(query);
    const isIpv4 = query.readUInt16BE(end) === 1;
    this.asked.push(name);
    const answer = await this.#answer(name);
    if (answer === "silence") return undefined;
    const addresses = isIpv4 && typeof answer === "object" ? answer : [];
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x81_80 | (typeof answer === "number" ? answer : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    // Each: a pointer to the name, A, IN, one second, four bytes.
    const records = addresses.map((address) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split(".").map(Number)]),
    );
    return Buffer.concat([header, query.subarray(12, end + 4), ...records]);
  }
}

/** The name of the first question, and where its type begins. */
function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length).toLowerCase());
    at += length + 1;
  }
  return { name: labels.join("."), end: at + 1 };
}
