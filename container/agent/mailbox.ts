import { readFileSync, readdirSync, watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { limits } from "../../src/protocol/limits.ts";
import { decodeMessage, encodeMessage, messageFileId, writeMessageFile } from "../../src/protocol/mailbox-file.ts";
import type { AgentPayload, HostPayload } from "../../src/protocol/messages.ts";
import { messageFileName } from "../../src/protocol/paths.ts";
import { protocolVersion } from "../../src/protocol/version.ts";

export interface AgentMailboxOptions {
  readonly toAgent: string;
  readonly toHost: string;
  readonly generation: number;
  /** One message of the host, in order, each once. Must return at once and not throw. */
  onMessage(payload: HostPayload): void;
  /** A turn is running, so that a missed file event is made up for sooner. */
  isBusy(): boolean;
  /** Interval of rescans where file events do not arrive; undefined where they do. */
  readonly rescanMs: number | undefined;
  /** Called when the mailbox has become unusable. */
  onFailure(error: unknown): void;
  readonly log: (text: string) => void;
}

const busyRescanMs = 5_000;
const idleRescanMs = 30_000;
/** Files that the host has not taken yet, before we wait for it: half of what it bears. */
const maxUntaken = limits.files / 2;
const untakenCheckMs = 50;

/** The agent's end of the mailbox: reads what the host writes, writes what the host reads. */
export class AgentMailbox implements Disposable {
  readonly #options: AgentMailboxOptions;
  #watcher: FSWatcher | undefined;
  #rescan: NodeJS.Timeout | undefined;
  #handled = 0;
  #sent = 0;
  #awake = false;
  #looking = false;
  #closed = false;
  #lastSend: Promise<void> = Promise.resolve();

  constructor(options: AgentMailboxOptions) {
    this.#options = options;
  }

  /** Begins to read. */
  listen(): void {
    try {
      this.#watcher = watch(this.#options.toAgent, () => this.#wake());
      this.#watcher.on("error", (error) => this.#options.log(`watching the mailbox failed: ${String(error)}`));
    } catch (error) {
      this.#options.log(`the mailbox cannot be watched, only looked at now and then: ${String(error)}`);
    }
    this.#wake();
    this.#planRescan();
  }

  /** Resolves once the host can see the message. Messages appear in the order of the calls. */
  async send(payload: AgentPayload): Promise<void> {
    const sent = this.#lastSend.then(() => this.#send(payload));
    this.#lastSend = sent.catch(() => {});
    return sent;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#watcher?.close();
    clearTimeout(this.#rescan);
  }

  async #send(payload: AgentPayload): Promise<void> {
    const { generation, toHost } = this.#options;
    const id = this.#sent + 1;
    const encoded = encodeMessage({ version: protocolVersion, id, generation, acked: this.#handled, payload });
    if (!encoded.ok) throw new Error(encoded.reason);
    if (id % maxUntaken === 0) await this.#hostHasTaken();
    writeMessageFile(toHost, id, encoded.text);
    this.#sent = id;
  }

  async #hostHasTaken(): Promise<void> {
    while (!this.#closed && readdirSync(this.#options.toHost).length >= maxUntaken) await delay(untakenCheckMs);
  }

  #planRescan(): void {
    if (this.#closed) return;
    this.#rescan = setTimeout(
      () => {
        this.#wake();
        this.#planRescan();
      },
      this.#options.rescanMs ?? (this.#options.isBusy() ? busyRescanMs : idleRescanMs),
    );
  }

  #wake(): void {
    this.#awake = true;
    if (!this.#looking) this.#look().catch((error: unknown) => this.#options.onFailure(error));
  }

  async #look(): Promise<void> {
    this.#looking = true;
    while (this.#awake && !this.#closed) {
      this.#awake = false;
      for (const id of await this.#nextIds()) await this.#take(id);
    }
    this.#looking = false;
  }

  /**
   * The host writes in order, but a listing can miss a file and show a later one; what a second one misses does not
   * exist.
   */
  async #nextIds(): Promise<number[]> {
    const ids = await this.#unhandledIds();
    const isWhole = ids.every((id, index) => id === this.#handled + 1 + index);
    return isWhole ? ids : this.#unhandledIds();
  }

  async #unhandledIds(): Promise<number[]> {
    const ids = readdirSync(this.#options.toAgent).map((name) => messageFileId(name));
    const unhandled = ids.filter((id) => id !== undefined).filter((id) => id > this.#handled);
    return unhandled.toSorted((one, other) => one - other);
  }

  async #take(id: number): Promise<void> {
    // Not before the first message: the schemas take longer to load than all else that a start needs.
    const { hostMessage } = await import("../../src/protocol/messages.ts");
    if (this.#closed) return;
    this.#handled = id;
    const bytes = readFileSync(join(this.#options.toAgent, messageFileName(id)));
    const reading = decodeMessage(bytes, hostMessage, id);
    if (!reading.ok) this.#options.log(`message ${id} of the host was ignored: ${reading.reason}`);
    else if (reading.message.generation !== this.#options.generation) this.#options.log(`message ${id} is not for us`);
    else this.#options.onMessage(reading.message.payload);
  }
}
