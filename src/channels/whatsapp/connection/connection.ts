import type { OutgoingMessage, OutgoingReaction, ProgressLine, Sign } from "../../../domain/chats/message.ts";
import type { ChannelPorts } from "../../define-channel.ts";
import { type Connection, type ConnectionEnd, type ConnectionHost } from "../../channel.ts";
import { userOf } from "../jids.ts";
import type { AccountState } from "./account-state.ts";
import { connectionEnd } from "./disconnects.ts";
import { WhatsAppIntake } from "../incoming/intake.ts";
import { Numbers, pairsAmong } from "../incoming/numbers.ts";
import { fetchMedia } from "../incoming/media.ts";
import { WhatsAppOutlet } from "../outgoing/outlet.ts";
import { createSeqOf, type SeqOf } from "../outgoing/message-id.ts";
import type { Pacing } from "../outgoing/pacing.ts";
import type { WhatsAppSettings } from "../settings.ts";
import { type WorkerLimits, type WorkerOptions, WorkerProcess } from "../process/worker-process.ts";
import type {
  Account,
  Arrival,
  EndReport,
  GroupFacts,
  MediaReference,
  StartOrder,
} from "../../../processes/message-schemas.ts";

/** Status of a device that was removed on the phone. */
const unlinked = 401;
/** Time limit for learning the name of a message's group. */
const groupMs = 5_000;

/** Options of the connector. */
export interface WhatsAppOptions extends Pick<
  ChannelPorts,
  "instance" | "state" | "ids" | "outgoing" | "variables" | "clock" | "wait" | "random" | "logger"
> {
  readonly assistantName: () => string;
  readonly settings: WhatsAppSettings;
  readonly limits?: WorkerLimits | undefined;
}

/** Options of a connection. */
export interface WhatsAppConnectionOptions extends WhatsAppOptions {
  readonly channel: string;
  readonly remark: string | undefined;
  readonly pacing: Pacing;
}

/** One connection to WhatsApp, which is one worker process. */
export class WhatsAppConnection implements Connection {
  readonly ended: Promise<Error>;
  readonly #host: ConnectionHost;
  readonly #options: WhatsAppConnectionOptions;
  readonly #state: AccountState;
  readonly #worker: WorkerProcess;
  readonly #seqOf: SeqOf;
  readonly #numbers: Numbers;
  readonly #intake: WhatsAppIntake;
  readonly #outlet: WhatsAppOutlet;
  readonly #opened = Promise.withResolvers<void>();
  readonly #end = Promise.withResolvers<Error>();
  #account: Account | undefined;
  #endReport: EndReport | undefined;
  #isOver = false;

  constructor(options: WhatsAppConnectionOptions, state: AccountState, host: ConnectionHost) {
    this.#options = options;
    this.#state = state;
    this.#host = host;
    this.ended = this.#end.promise;
    const { variables, logger, limits } = options;
    this.#worker = new WorkerProcess({ ...this.#handlers(), variables, logger, limits });
    this.#seqOf = createSeqOf({ ...options, sent: state.sent });
    const lookUp = (pns: readonly string[]) => this.#worker.line.call("lidsOf", pns);
    this.#numbers = new Numbers({ ...options, lookUp });
    this.#intake = this.#createIntake();
    this.#outlet = new WhatsAppOutlet({
      ...options,
      sent: state.sent,
      recent: state.recent,
      directory: state.directory,
      line: this.#worker.line,
      readReceipts: options.settings.readReceipts,
    });
    void this.#worker.exited.then((reason) => this.#end.resolve(reason));
    // Nobody may be waiting for it when it fails.
    this.#opened.promise.catch(() => undefined);
  }

  /** Name of the linked account. */
  get remark(): string | undefined {
    const account = this.#account && `account +${userOf(this.#account.pn)}`;
    return [account, this.#options.remark].filter((part) => part !== undefined).join(", ") || undefined;
  }

  /**
   * Resolves when messages can be sent. Rejects with the reason when it comes to nothing, or when the signal aborts.
   */
  async open(order: StartOrder, signal: AbortSignal): Promise<void> {
    await this.#intake.recover();
    const giveUp = (): void => this.#opened.reject(signal.reason);
    signal.addEventListener("abort", giveUp);
    void this.ended.then((reason) => this.#opened.reject(reason));
    try {
      signal.throwIfAborted();
      await Promise.race([this.#worker.start(order), this.ended]);
      await this.#opened.promise;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  async send(message: OutgoingMessage, signal: AbortSignal): Promise<void> {
    await this.#outlet.send(message, signal);
  }

  async signal(chat: string, sign: Sign): Promise<void> {
    await this.#outlet.signal(chat, sign);
  }

  async react(chat: string, reaction: OutgoingReaction): Promise<void> {
    await this.#outlet.react(chat, reaction);
  }

  async showProgress(chat: string, line: ProgressLine): Promise<void> {
    await this.#outlet.showProgress(chat, line);
  }

  async probe(): Promise<void> {
    await this.#worker.line.call("probe", undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await Promise.all([this.#worker[Symbol.asyncDispose](), this.#intake[Symbol.asyncDispose]()]);
    if (this.#endReport?.code === unlinked) await this.#state.setAside();
  }

  #createIntake(): WhatsAppIntake {
    const { channel, assistantName, wait, logger } = this.#options;
    return new WhatsAppIntake({
      channel,
      assistantName,
      wait,
      logger,
      accept: this.#host.accept,
      reacted: this.#host.reacted,
      seqOf: this.#seqOf,
      isProgress: (id) => this.#state.recent.isProgress(id),
      account: () => this.#account,
      directory: this.#state.directory,
      learn: (pairs) => this.#options.ids.same(pairs),
      settle: (sender) => this.#numbers.settle(sender),
      journal: this.#state.journal,
      group: (chat) => this.#group(chat),
      fetchMedia: (media, path, limitBytes, signal) => this.#fetch(media, { path, limitBytes }, signal),
      taken: (arrival) => this.#state.recent.noteArrival(arrival),
    });
  }

  #handlers(): Pick<WorkerOptions, "answers" | "listeners"> {
    const { keys, sent, recent, directory } = this.#state;
    return {
      answers: {
        arrived: (arrival) => this.#arrived(arrival),
        isOwn: async (id) => sent.has(id),
        readKeys: (names) => keys.read(names),
        applyKeys: async (changes) => {
          await this.#options.ids.same(pairsAmong(changes));
          await keys.apply(changes);
        },
        sentBody: (id) => sent.body(id),
        keepSent: (kept) => sent.keep(kept),
      },
      listeners: {
        qr: () => undefined,
        pairingCode: () => undefined,
        opened: (account) => this.#open(account),
        ended: (report) => this.#ended(report),
        delivered: (ids) => {
          for (const seq of ids.map((id) => recent.takeSeq(id)))
            if (seq !== undefined && !this.#isOver) this.#host.delivered(seq);
        },
        groupChanged: (facts) => this.#learnGroup(facts),
        named: (names) => directory.learnNames(names),
        log: ({ level, text }) => this.#options.logger[level]({ channel: this.#options.channel }, text),
      },
    };
  }

  /** Most reactions are to nothing that matters: they cost no more than this look. */
  async #arrived(arrival: Arrival): Promise<void> {
    const { reaction, chat } = arrival;
    if (reaction && (await this.#seqOf(chat, reaction.message)) === undefined) return;
    await this.#intake.keep(arrival);
  }

  #open(account: Account): void {
    this.#account = account;
    this.#state.refusedVersions = 0;
    this.#intake.open();
    this.#opened.resolve();
    // Whoever writes first waits for it, and is told about what fails.
    this.#numbers.settle().catch(() => undefined);
  }

  #ended(report: EndReport): void {
    this.#endReport ??= report;
    const end: ConnectionEnd = connectionEnd(report, this.#state.refusedVersions);
    if (report.code === 405) this.#state.refusedVersions += 1;
    this.#end.resolve(end);
  }

  async #learnGroup(facts: GroupFacts): Promise<void> {
    const learned = this.#state.directory.learnGroup(facts, this.#account);
    if (!this.#isOver) this.#host.chatChanged?.(learned);
    await this.#options.ids.same(
      facts.members.flatMap(({ lid: id, pn: alias }) => (id && alias ? [{ id, alias }] : [])),
    );
  }

  async #group(chat: string): Promise<GroupFacts | undefined> {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<undefined>();
    const patience = setTimeout(() => giveUp(undefined), groupMs);
    try {
      return await Promise.race([this.#worker.line.call("group", chat).catch(() => undefined), late]);
    } finally {
      clearTimeout(patience);
    }
  }

  async #fetch(media: MediaReference, to: { path: string; limitBytes: number }, signal: AbortSignal): Promise<void> {
    const hosts = await this.#worker.line.call("mediaHosts", undefined);
    await fetchMedia(media, { ...to, hosts }, signal);
  }
}
