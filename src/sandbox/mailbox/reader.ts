import { setImmediate as nextRound } from "node:timers/promises";

import type { Logger } from "pino";

import { toError } from "../../lib/app-error.ts";
import type { HostileFolder } from "../../lib/files/open-hostile-file.ts";
import { limits } from "../../protocol/limits.ts";
import { decodeMessage, messageFileId, temporaryFilePattern } from "../../protocol/mailbox-file.ts";
import { agentMessage } from "../../protocol/messages.ts";
import type { AgentMessage } from "../../protocol/messages.ts";
import { filesFolder, messageFileName } from "../../protocol/paths.ts";
import { ResultFiles } from "./result-files.ts";
import { printableName } from "./rejected.ts";
import type { RejectedMessages } from "./rejected.ts";

export interface MailboxReaderOptions {
  /** The `to-host` folder. Owned by the reader from here on. */
  readonly folder: HostileFolder;
  readonly rejected: RejectedMessages;
  readonly generation: number;
  readonly containerUid: number;
  /** Ids below this one have been written for the agent, so that it may acknowledge them. */
  nextSentId(): number;
  handle(message: AgentMessage): Promise<void>;
  onRejected(reason: string): void;
  /** Called when a message is refused and will not come again. */
  onDropped(reason: string): void;
  onViolation(reason: string): void;
  readonly logger: Logger;
}

/** Bytes on disk that unread and half-written messages may take together. */
const quotaBytes = 64 * 1024 * 1024;
/**
 * A look that finds nothing is free this often in a row; after that, a flood of events cannot buy more than 200 a
 * second.
 */
const freeLooks = 8;
const restMs = 5;
/** Maximum messages handled before the host does other work. */
const messagesAtOnce = 8;

/**
 * Takes the agent's messages out of a folder that the agent controls. `wake` starts looking and returns at once; looks
 * never overlap; each message is handed over in the order of ids, once, after the one before it has been handled.
 */
export class MailboxReader implements AsyncDisposable {
  readonly #options: MailboxReaderOptions;
  /** Files referred to by the agent's results. */
  readonly files: ResultFiles;
  /** Entries that could not be removed: counted once, then left. */
  readonly #stuck = new Set<string>();
  #handled = 0;
  #violations = 0;
  #fruitlessLooks = 0;
  #awake = false;
  #quotaDue = false;
  #handling = false;
  #closed = false;
  #looking: Promise<void> | undefined;

  constructor(options: MailboxReaderOptions) {
    this.#options = options;
    this.files = new ResultFiles(options.folder, options.containerUid);
  }

  /** The highest id that has been handled or refused. */
  get handled(): number {
    return this.#handled;
  }

  wake(): void {
    this.#awake = true;
    if (this.#closed || this.#looking !== undefined) return;
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
      if (this.#awake) this.wake();
    });
  }

  /** True when this entry may be a new message; a handled one only disappears. */
  isNews(name: string): boolean {
    if (name === filesFolder) return false;
    return (messageFileId(name) ?? Infinity) > this.#handled && !temporaryFilePattern.test(name);
  }

  /** Looks again without a hint, and at the bytes too. */
  rescan(): void {
    this.#quotaDue = true;
    this.wake();
  }

  /** Counts against the agent; the last one that is forgiven ends the reading. */
  violation(reason: string): void {
    if (this.#closed) return;
    this.#violations += 1;
    this.#options.logger.warn({ violations: this.#violations }, `The agent broke the mailbox's rules: ${reason}`);
    this.#options.onRejected(reason);
    if (this.#violations >= limits.violations) this.#end(reason);
  }

  /** Nothing is handed over after this; a message that is being handled at that moment is not waited for. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const looking = this.#looking ?? Promise.resolve();
    const closed = looking.then(() => this.#options.folder[Symbol.asyncDispose]());
    if (!this.#handling) await closed;
  }

  #end(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.onViolation(reason);
  }

  async #look(): Promise<void> {
    while (this.#awake && !this.#closed) {
      this.#awake = false;
      if (this.#fruitlessLooks > freeLooks) await new Promise((resolve) => setTimeout(resolve, restMs));
      try {
        if (this.#quotaDue) await this.#checkQuota();
        const found = await this.#takeAll();
        this.#fruitlessLooks = found ? 0 : this.#fruitlessLooks + 1;
      } catch (error) {
        this.#end(`its mailbox cannot be read: ${toError(error).message}`);
      }
    }
  }

  /** Whether there was anything. What comes meanwhile wakes the reader again. */
  async #takeAll(): Promise<boolean> {
    const ids = await this.#nextIds();
    for (const [index, id] of ids.entries()) {
      // Reading is done at once, and so is what comes of many messages: others have their turn in between.
      if (index > 0 && index % messagesAtOnce === 0) await nextRound();
      await this.#take(id);
    }
    return ids.length > 0;
  }

  /**
   * Ids to handle now. A listing is no snapshot: it can miss a file and show a later one. The agent writes in order, so
   * whatever is missing before an id that was seen is there in a second listing, or never comes.
   */
  async #nextIds(): Promise<number[]> {
    const ids = await this.#unhandledIds();
    const isGap = ids[0] !== undefined && ids[0] !== this.#handled + 1;
    const sure = isGap ? await this.#unhandledIds() : ids;
    const gap = sure.findIndex((id, index) => index > 0 && id !== (sure[index - 1] ?? 0) + 1);
    if (gap === -1) return sure;
    // Those behind the gap are looked at again.
    this.#awake = true;
    return sure.slice(0, gap);
  }

  async #unhandledIds(): Promise<number[]> {
    const { folder } = this.#options;
    const { names, complete } = await folder.list(limits.files);
    if (!complete) {
      this.#end(`more than ${limits.files} files in its mailbox`);
      return [];
    }
    const ids: number[] = [];
    for (const name of names) {
      const id = messageFileId(name.toString("latin1"));
      if (name.toString("latin1") === filesFolder) continue;
      if (id === undefined) await this.#strange(name);
      else if (id > this.#handled) ids.push(id);
      else await folder.remove(name);
      if (this.#closed) return [];
    }
    return ids.toSorted((one, other) => one - other);
  }

  async #take(id: number): Promise<void> {
    if (this.#closed) return;
    const { folder, containerUid, generation } = this.#options;
    const name = Buffer.from(messageFileName(id));
    this.#handled = id;
    const reading = await folder.readFile(name, { maxBytes: limits.messageBytes, ownerUid: containerUid });
    if (!reading.ok) return this.#drop(name, reading.reason);
    const decoded = decodeMessage(reading.bytes, agentMessage, id);
    if (!decoded.ok) return this.#drop(name, decoded.reason);
    const { message } = decoded;
    if (message.generation !== generation) return this.#drop(name, `generation ${message.generation}`);
    if (message.acked >= this.#options.nextSentId())
      return this.#drop(name, `acknowledges ${message.acked}, which was never sent`);
    await this.#handOver(message);
    await folder.remove(name);
  }

  async #handOver(message: AgentMessage): Promise<void> {
    this.#handling = true;
    try {
      await this.#options.handle(message);
    } catch (error) {
      this.#options.logger.error({ err: error }, `Message ${message.id} of the agent (${message.payload.type}) failed`);
    } finally {
      this.#handling = false;
    }
  }

  async #drop(name: Buffer, reason: string): Promise<void> {
    await this.#reject(name, reason);
    if (!this.#closed) this.#options.onDropped(`${printableName(name)}: ${reason}`);
  }

  async #strange(name: Buffer): Promise<void> {
    const key = name.toString("latin1");
    if (temporaryFilePattern.test(key) || this.#stuck.has(key)) return;
    await this.#reject(name, "not the name of a message");
  }

  async #reject(name: Buffer, reason: string): Promise<void> {
    const { folder, rejected, logger } = this.#options;
    await rejected.keep(folder, name, reason).catch((error: unknown) => {
      logger.error({ err: error }, "A refused message could not be kept aside");
    });
    const removed = await folder.remove(name);
    if (!removed) this.#stuck.add(name.toString("latin1"));
    this.violation(`${printableName(name)}: ${reason}`);
  }

  /** Bytes, which a listing does not show. */
  async #checkQuota(): Promise<void> {
    this.#quotaDue = false;
    const { names } = await this.#options.folder.list(limits.files);
    let bytes = 0;
    for (const name of names) bytes += await this.#options.folder.bytesOnDisk(name);
    const files = await this.files.usage();
    if (!files.inOrder)
      return this.#end(`its folder ${filesFolder} holds more than ${limits.resultFiles} entries, or no files`);
    bytes += files.bytes;
    if (bytes > quotaBytes) this.#end(`${bytes} bytes in its mailbox; the cap is ${quotaBytes}`);
  }
}
