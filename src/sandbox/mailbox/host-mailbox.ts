import type { Logger } from "pino";

import { AppError } from "../../lib/app-error.ts";
import { type HostileCopy, HostileFolder } from "../../lib/files/open-hostile-file.ts";
import type { AgentMessage, HostPayload } from "../../protocol/messages.ts";
import { GivenFiles } from "./given-files.ts";
import { mailboxPaths, makeMailboxFolders, removeMailboxFolders } from "./folders.ts";
import { MailboxReader } from "./reader.ts";
import { RejectedMessages } from "./rejected.ts";
import { MailboxWatch } from "./watch.ts";
import { MailboxWriter } from "./writer.ts";

export interface HostMailboxOptions {
  /** `<home>/sessions/<session>/mail/<generation>`; created if missing. */
  readonly folder: string;
  readonly generation: number;
  /** Id of the first message, above all that the session's mailboxes have used. */
  readonly firstId: number;
  /** Owner of the agent's files as the host sees it. */
  readonly containerUid: number;
  readonly hostUid: number;
  /**
   * One message of the agent, in order; the next one waits until the promise settles, so long work is only begun here.
   * A rejection is logged and the message counts as handled.
   */
  onMessage(message: AgentMessage): void | Promise<void>;
  /** Called for each breach of the rules, for the audit; printable. */
  onRejected?(reason: string): void;
  /** Called when a message of the agent is refused and will not come again. */
  onDropped?(reason: string): void;
  /**
   * Called at most once when the container must be ended: too many breaches, or an unreadable mailbox. Reading stops.
   */
  onViolation(reason: string): void;
  readonly logger: Logger;
}

/**
 * The host's end of one generation's mailbox: the only writer of `to-agent`, the only reader of `to-host`. Open until
 * disposed; the files stay until `removeFiles`, so that a restarted host can open the mailbox of a container that
 * lives.
 */
export class HostMailbox implements AsyncDisposable {
  readonly #folder: string;
  readonly #writer: MailboxWriter;
  readonly #reader: MailboxReader;
  readonly #watch: MailboxWatch;
  readonly #logger: Logger;
  readonly #given: GivenFiles;
  #closed = false;

  private constructor(options: HostMailboxOptions, writer: MailboxWriter, reader: MailboxReader, watch: MailboxWatch) {
    this.#folder = options.folder;
    this.#logger = options.logger;
    this.#given = new GivenFiles(mailboxPaths(options.folder).toAgent);
    this.#writer = writer;
    this.#reader = reader;
    this.#watch = watch;
  }

  static async open(options: HostMailboxOptions): Promise<HostMailbox> {
    const { generation, firstId, containerUid, logger } = options;
    const paths = await makeMailboxFolders(options.folder, containerUid, options.hostUid);
    const rejected = await RejectedMessages.open(paths.rejected);
    const writer = await MailboxWriter.open({
      folder: paths.toAgent,
      generation,
      firstId,
      handled: () => reader.handled,
    });
    const reader = new MailboxReader({
      folder: await HostileFolder.open(paths.toHost),
      rejected,
      generation,
      containerUid,
      nextSentId: () => writer.nextId,
      handle: async (message) => {
        writer.acknowledged(message.acked);
        await options.onMessage(message);
      },
      onRejected: (reason) => options.onRejected?.(reason),
      onDropped: (reason) => options.onDropped?.(reason),
      onViolation: (reason) => {
        watch[Symbol.dispose]();
        options.onViolation(reason);
      },
      logger,
    });
    const watch = new MailboxWatch({
      folder: paths.toHost,
      isNews: (name) => reader.isNews(name),
      wake: () => reader.wake(),
      rescan: () => reader.rescan(),
      flood: () => reader.violation("a flood of file events"),
    });
    return new HostMailbox(options, writer, reader, watch);
  }

  /**
   * Resolves with the message's id once the agent can see it; messages appear in the order of the calls. Throws
   * `too_large` or `bad_input` for what the agent would refuse, `store_failed` when it cannot be written.
   */
  async send(payload: HostPayload): Promise<number> {
    if (this.#closed) throw new AppError("container_lost", `The mailbox of ${this.#folder} is closed.`);
    return this.#writer.send(payload);
  }

  /** Takes a file that a result refers to away from the agent, to a new one of ours. */
  async takeFile(name: string, target: string, maxBytes: number): Promise<HostileCopy> {
    return this.#reader.files.take(name, target, maxBytes);
  }

  /** Puts a file where only the agent can read it. Gives its name. */
  async giveFile(content: Uint8Array, extension: string): Promise<string> {
    if (this.#closed) throw new AppError("container_lost", `The mailbox of ${this.#folder} is closed.`);
    return this.#given.add(content, extension);
  }

  /** Whether the agent is frozen, and need not be looked after. */
  setFrozen(isFrozen: boolean): void {
    this.#watch.setFrozen(isFrozen);
  }

  /** Deletes the generation's folder after its container has ended, as far as the host's rights go. */
  async removeFiles(): Promise<void> {
    await this[Symbol.asyncDispose]();
    if (await removeMailboxFolders(this.#folder)) return;
    this.#logger.warn(`${this.#folder} holds folders of the agent that this host may not remove; root may.`);
  }

  /** Stops reading and writing. A message that is being handled is not waited for; none is handed over afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#watch[Symbol.dispose]();
    await this.#reader[Symbol.asyncDispose]();
  }
}
