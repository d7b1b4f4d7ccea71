import type { BinaryNode } from "@whiskeysockets/baileys";
import { WebSocket } from "ws";

import type { ClientIdentity, NoiseResponder } from "./noise-responder.ts";
import type { LinkAttempt } from "./pairing.ts";
import type { Companion } from "./person.ts";
import { serverJid, stanza } from "./stanza.ts";

/** One WebSocket of a client. */
export class Connection {
  readonly noise: NoiseResponder;
  identity: ClientIdentity | undefined;
  /** Set after the login. */
  companion: Companion | undefined;
  /** Set while a client that is not linked yet waits for a phone. */
  link: LinkAttempt | undefined;
  readonly #socket: WebSocket;
  readonly #mayWrite: () => boolean;
  #queries = 0;

  constructor(socket: WebSocket, noise: NoiseResponder, mayWrite: () => boolean) {
    this.#socket = socket;
    this.noise = noise;
    this.#mayWrite = mayWrite;
  }

  /** False when the client cannot get it anymore. */
  send(node: BinaryNode): boolean {
    return this.sendBytes(() => this.noise.encode(node));
  }

  sendBytes(encode: () => Buffer): boolean {
    if (this.#socket.readyState !== WebSocket.OPEN) return false;
    if (this.#mayWrite()) this.#socket.send(encode());
    return true;
  }

  /** Asks the client something. */
  query(attributes: Record<string, string>, content: BinaryNode[]): void {
    this.#queries += 1;
    this.send(stanza("iq", { from: serverJid, id: `server-${this.#queries}`, ...attributes }, content));
  }

  /** Ends it in an orderly way, after what was sent. */
  close(): void {
    this.#socket.close();
  }

  /** Ends it as a broken line would. */
  cut(): void {
    this.#socket.terminate();
  }
}
