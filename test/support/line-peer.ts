import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface, type Interface } from "node:readline";

interface Answer {
  readonly id?: string;
  readonly received?: boolean;
  readonly seq?: number;
  readonly chat?: string;
  readonly text?: string;
}

/** A program at the other end of the channel `line` of the fixtures. */
export class LinePeer implements Disposable {
  readonly #socket: Socket;
  readonly #lines: Interface;
  readonly #heard = new Map<number, Answer>();
  /** Acknowledgements to each message, in order. */
  readonly told: { readonly id: string; readonly received: boolean }[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#lines = createInterface({ input: socket }).on("line", (text) => this.#note(JSON.parse(text) as Answer));
  }

  /** Resolves when the channel knows of it: a socket is connected before the program that listens has taken it. */
  static async open(where: string | number): Promise<LinePeer> {
    const socket = typeof where === "string" ? connect(where) : connect(where, "127.0.0.1");
    await once(socket, "connect");
    const peer = new LinePeer(socket);
    // What is no message is answered, too.
    socket.write("{}\n");
    const lost = once(socket, "close").then(() => {
      throw new Error("the channel hung up");
    });
    await Promise.race([once(peer.#lines, "line"), lost]);
    socket.on("error", () => undefined);
    return peer;
  }

  say(said: { readonly id: string; readonly chat: string; readonly sender: string; readonly text: string }): void {
    this.#socket.write(`${JSON.stringify(said)}\n`);
  }

  /** Texts that have come in this chat, each once. */
  heard(chat: string): string[] {
    return [...this.#heard.values()].filter((answer) => answer.chat === chat).map(({ text = "" }) => text);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #note(answer: Answer): void {
    const { id, received, seq } = answer;
    if (id !== undefined && received !== undefined) this.told.push({ id, received });
    if (seq !== undefined) this.#heard.set(seq, answer);
  }
}
