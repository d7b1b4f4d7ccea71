import { cleanMessage, decodeMessageNode, proto, unpadRandomMax16 } from "@whiskeysockets/baileys";
import type { AuthenticationCreds, BinaryNode, SocketConfig, WAMessage, WASocket } from "@whiskeysockets/baileys";
import type { Arrival } from "../../../processes/message-schemas.ts";

type MakeRepository = SocketConfig["makeSignalRepository"];

export interface ArrivalsOptions {
  readonly creds: AuthenticationCreds;
  readonly translate: (message: WAMessage) => Promise<Arrival | undefined>;
  /** Resolves when it is on disk. */
  readonly keep: (arrival: Arrival) => Promise<void>;
  readonly failed: (text: string) => void;
}

/**
 * Receives messages when they are decrypted. The library acknowledges a message before it emits it, so events could be
 * lost in a crash. Here decryption waits until the message is on disk, and the server hears "received" only then.
 */
export class DurableArrivals {
  readonly #options: ArrivalsOptions;
  readonly #nodes = new WeakMap<Uint8Array, BinaryNode>();

  constructor(options: ArrivalsOptions) {
    this.#options = options;
  }

  /** Makes the library's repository of sessions, with decryption that waits. */
  around(make: MakeRepository): MakeRepository {
    return (auth, logger, lookUp) => {
      const repository = make(auth, logger, lookUp);
      const decryptMessage = repository.decryptMessage.bind(repository);
      const decryptGroupMessage = repository.decryptGroupMessage.bind(repository);
      repository.decryptMessage = async (options) => {
        const plain = await decryptMessage(options);
        await this.#take(options.ciphertext, plain);
        return plain;
      };
      repository.decryptGroupMessage = async (options) => {
        const plain = await decryptGroupMessage(options);
        await this.#take(options.msg, plain);
        return plain;
      };
      return repository;
    };
  }

  /** Remembers which stanza an encrypted text came with: the repository is not told. */
  follow({ ws }: WASocket): void {
    ws.prependListener("CB:message", (node: BinaryNode) => {
      if (!Array.isArray(node.content)) return;
      for (const { tag, content } of node.content) {
        if (tag === "enc" && content instanceof Uint8Array) this.#nodes.set(content, node);
      }
    });
  }

  async #take(ciphertext: Uint8Array, plain: Uint8Array): Promise<void> {
    const node = this.#nodes.get(ciphertext);
    if (!node || node.attrs["category"] === "peer") return;
    const arrival = await this.#read(node, plain);
    if (!arrival) return;
    try {
      await this.#options.keep(arrival);
    } catch {
      // It is not kept, so the server must not hear that it is; the end of this process is near.
      await new Promise<never>(() => undefined);
    }
  }

  async #read(node: BinaryNode, plain: Uint8Array): Promise<Arrival | undefined> {
    const { creds, translate, failed } = this.#options;
    if (!creds.me) return undefined;
    const lid = creds.me.lid ?? "";
    try {
      const decoded = proto.Message.decode(unpadRandomMax16(plain));
      const { fullMessage } = decodeMessageNode(node, creds.me.id, lid);
      fullMessage.message = decoded.deviceSentMessage?.message ?? decoded;
      cleanMessage(fullMessage, creds.me.id, lid);
      return await translate(fullMessage);
    } catch {
      failed("a message could not be read");
      return undefined;
    }
  }
}
