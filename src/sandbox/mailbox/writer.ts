import { rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { AppError, toError } from "../../lib/app-error.ts";
import { encodeMessage, messageFileId, writeMessageFile } from "../../protocol/mailbox-file.ts";
import { messageFileName } from "../../protocol/paths.ts";
import type { HostPayload } from "../../protocol/messages.ts";
import { protocolVersion } from "../../protocol/version.ts";

export interface MailboxWriterOptions {
  /** The `to-agent` folder. */
  readonly folder: string;
  readonly generation: number;
  /** Not below any id that this session's mailboxes have ever used. */
  readonly firstId: number;
  /** The highest id of the agent that has been handled, asked anew for each message. */
  handled(): number;
}

/** The only writer of `to-agent`: messages appear in the order of `send`, each under a unique name. */
export class MailboxWriter {
  readonly #options: MailboxWriterOptions;
  readonly #unacknowledged: Set<number>;
  #nextId: number;
  #last: Promise<void> = Promise.resolve();

  private constructor(options: MailboxWriterOptions, present: readonly number[]) {
    this.#options = options;
    this.#unacknowledged = new Set(present);
    this.#nextId = Math.max(options.firstId, ...present.map((id) => id + 1));
  }

  static async open(options: MailboxWriterOptions): Promise<MailboxWriter> {
    const names = await readdir(options.folder);
    return new MailboxWriter(
      options,
      names.map((name) => messageFileId(name)).filter((id) => id !== undefined),
    );
  }

  /** The id that the next message will get; every id that the agent can have seen is below it. */
  get nextId(): number {
    return this.#nextId;
  }

  /**
   * Resolves with the id once the agent can see the message. Throws `too_large` or `bad_input` for what it would
   * refuse.
   */
  async send(payload: HostPayload): Promise<number> {
    const id = this.#nextId;
    const encoded = encodeMessage(this.#envelope(id, payload));
    if (!encoded.ok) {
      throw new AppError(encoded.tooLarge ? "too_large" : "bad_input", `The agent cannot be told: ${encoded.reason}`);
    }
    this.#nextId += 1;
    const written = this.#last.then(() => this.#write(id, encoded.text));
    this.#last = written.catch(() => {});
    await written;
    return id;
  }

  /** Removes what the agent has handled. */
  acknowledged(upTo: number): void {
    for (const id of this.#unacknowledged) {
      if (id > upTo) continue;
      this.#unacknowledged.delete(id);
      rmSync(join(this.#options.folder, messageFileName(id)), { force: true });
    }
  }

  async #write(id: number, text: string): Promise<void> {
    try {
      writeMessageFile(this.#options.folder, id, text);
      this.#unacknowledged.add(id);
    } catch (error) {
      const { message } = toError(error);
      throw new AppError("store_failed", `Message ${id} could not be written for the agent: ${message}`, {
        cause: error,
      });
    }
  }

  #envelope(id: number, payload: HostPayload) {
    const { generation } = this.#options;
    return { version: protocolVersion, id, generation, acked: this.#options.handled(), payload } as const;
  }
}
