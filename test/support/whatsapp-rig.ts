import { readFile } from "node:fs/promises";
import { Writable } from "node:stream";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

import { vi } from "vitest";

import type {
  AcceptMessage,
  ChannelState,
  ChatFacts,
  LoginEvent,
  Receipt,
  TakeReaction,
} from "../../src/channels/channel.ts";
import { whatsapp as definition } from "../../src/channels/whatsapp/definition.ts";
import { SupervisedChannel } from "../../src/channels/supervisor.ts";
import { supervisorLimits, type SupervisorLimits } from "../../src/channels/supervisor.ts";
import { WhatsAppConnector } from "../../src/channels/whatsapp/connection/connector.ts";
import type { WhatsAppOptions } from "../../src/channels/whatsapp/connection/connection.ts";
import type { WhatsAppSettings } from "../../src/channels/whatsapp/settings.ts";
import type { IncomingMessage, IncomingReaction, OutgoingMessage } from "../../src/domain/chats/message.ts";
import { Aliases } from "../../src/rights/people/aliases.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { createLogger } from "../../src/lib/process/logger.ts";
import { sleep, type Sleep } from "../../src/lib/time/sleep.ts";
import type { ChannelStateStore, Store } from "../../src/stores/contract/store.ts";
import { openTestStore } from "./open-test-store.ts";
import { type FakeGroup, type FakeUser, type FakeWhatsApp, openFakeWhatsApp } from "./whatsapp/fake-whatsapp.ts";

const { NODE_COMPILE_CACHE } = process.env;

export interface WhatsAppRigOptions {
  readonly settings?: Partial<WhatsAppSettings>;
  readonly supervisor?: Partial<SupervisorLimits>;
  /** Sleep of the supervisor. */
  readonly wait?: Sleep;
  readonly worker?: WhatsAppOptions["limits"];
  readonly accept?: AcceptMessage;
  /** Handler of reactions. */
  readonly react?: TakeReaction;
  /** Gives the channel another store than the one that there is. */
  readonly around?: (store: ChannelStateStore) => ChannelStateStore;
}

/** The WhatsApp channel, supervised, with its own store and its own server at the other end. */
export class WhatsAppRig implements AsyncDisposable {
  readonly whatsapp: FakeWhatsApp;
  readonly store: Store;
  /** Accepted messages, each once. */
  readonly accepted: IncomingMessage[] = [];
  /** Received reactions. */
  readonly reactions: IncomingReaction[] = [];
  readonly states: ChannelState[] = [];
  readonly alarms: string[] = [];
  readonly delivered: number[] = [];
  readonly chats: ChatFacts[] = [];
  /** Messages of ours that the host has of a chat. */
  sentTo: readonly number[] = [];
  /** Ids that the configuration names. */
  named: readonly string[] = [];
  /** Known aliases. */
  aliases = new Aliases([definition]);
  /** All that was logged. */
  log = "";
  channel: SupervisedChannel;
  readonly #options: WhatsAppRigOptions;
  readonly #owned: AsyncDisposable;

  private constructor(
    whatsapp: FakeWhatsApp,
    store: Store,
    parts: { options: WhatsAppRigOptions; owned: AsyncDisposable },
  ) {
    this.whatsapp = whatsapp;
    this.store = store;
    this.#options = parts.options;
    this.#owned = parts.owned;
    this.channel = undefined as unknown as SupervisedChannel;
  }

  /** The channel runs; nothing is linked yet. */
  static async open(options: WhatsAppRigOptions = {}): Promise<WhatsAppRig> {
    const rig = await WhatsAppRig.#prepare(options);
    await rig.start();
    return rig;
  }

  static async #prepare(options: WhatsAppRigOptions): Promise<WhatsAppRig> {
    await using stack = new AsyncDisposableStack();
    const whatsapp = stack.use(await openFakeWhatsApp());
    setDefaultCACertificates([...getCACertificates(), await readFile(whatsapp.caFile, "utf8")]);
    const { store } = stack.use(await openTestStore());
    return new WhatsAppRig(whatsapp, store, { options, owned: stack.move() });
  }

  /** The channel of an account that was linked before, open. */
  static async linked(options: WhatsAppRigOptions = {}): Promise<WhatsAppRig> {
    const rig = await WhatsAppRig.#prepare(options);
    await rig.store.channelState.apply("whatsapp", new Map([["credentials", await rig.whatsapp.link()]]));
    await rig.start();
    try {
      await vi.waitUntil(() => rig.channel.state().state === "open", { timeout: 120_000, interval: 20 });
      return rig;
    } catch (cause) {
      await rig[Symbol.asyncDispose]();
      throw new Error(`not open:\n${rig.log}`, { cause });
    }
  }

  /** Makes the channel (again), as a host does that starts. */
  async start(more: WhatsAppRigOptions = {}): Promise<void> {
    const { accept, react } = { ...this.#options, ...more };
    this.channel = this.create(more);
    await this.channel.start(
      async (message) => {
        const receipt = await (accept ?? takeAll)(message);
        const isNew = this.accepted.every(({ id, sender }) => id !== message.id || sender.id !== message.sender.id);
        if (receipt.outcome !== "refused" && isNew) this.accepted.push(message);
        return receipt;
      },
      {
        reacted: async (reaction) => {
          const receipt = await (react ?? takeAll)(reaction);
          if (receipt.outcome !== "refused") this.reactions.push(reaction);
          return receipt;
        },
        changed: (state) => this.states.push(state),
        delivered: (seq) => this.delivered.push(seq),
        chatChanged: (facts) => this.chats.push(facts),
        needsOperator: (reason) => this.alarms.push(reason),
      },
    );
  }

  /** A channel for this account that nobody has started. Whoever asks for it disposes it. */
  create(more: WhatsAppRigOptions = {}): SupervisedChannel {
    const { settings, supervisor, worker, wait = sleep, around = unchanged } = { ...this.#options, ...more };
    const sink = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.log += chunk.toString();
        done();
      },
    });
    const common = {
      clock: systemClock,
      wait,
      random: () => 0.5,
      logger: createLogger({ level: "debug", output: sink, format: "json", redact: (text) => text }),
    };
    const connector = new WhatsAppConnector({
      ...common,
      settings: {
        webSocketUrl: this.whatsapp.url,
        readReceipts: true,
        pacing: { perChatPerSecond: 1_000, perMinute: 100_000 },
        ...settings,
      },
      assistantName: () => "crab",
      instance: "test",
      state: around(this.store.channelState),
      outgoing: {
        after: async () => [],
        get: async () => undefined,
        sentTo: async () => this.sentTo,
      },
      ids: this.aliases.of("whatsapp", this.store.channelState, () => this.named),
      variables: { NODE_COMPILE_CACHE, NODE_EXTRA_CA_CERTS: this.whatsapp.caFile, ANTHROPIC_API_KEY: "sk-canary" },
      limits: worker,
    });
    const limits = { ...supervisorLimits, firstMs: 10, conflictMs: 100, ...supervisor };
    return new SupervisedChannel(connector, { ...common, limits });
  }

  /** Links the account by whatever the channel shows. */
  async link(phoneNumber?: string): Promise<LoginEvent[]> {
    const events: LoginEvent[] = [];
    for await (const event of this.channel.login(AbortSignal.timeout(120_000), { phoneNumber })) {
      events.push(event);
      if ("qr" in event) await this.whatsapp.scan(event.qr);
      if ("pairingCode" in event) await this.whatsapp.enterPairingCode(event.pairingCode);
    }
    return events;
  }

  /** Ann and Bob, and a group of them with the account. */
  async family(addressing: "lid" | "pn" = "lid"): Promise<{ ann: FakeUser; bob: FakeUser; group: FakeGroup }> {
    const ann = await this.whatsapp.addUser({ name: "Ann", pn: "15550000011", lid: "90000000000011" });
    const bob = await this.whatsapp.addUser({ name: "Bob", pn: "15550000012", lid: "90000000000012" });
    const group = await this.whatsapp.addGroup({
      subject: "Family",
      members: [ann, bob, this.whatsapp.bot],
      addressing,
    });
    return { ann, bob, group };
  }

  async send(message: OutgoingMessage): Promise<void> {
    await this.channel.send(message, AbortSignal.timeout(120_000));
  }

  /** Forgets what is not on disk of ids of the same person. */
  async loadAliases(): Promise<void> {
    this.aliases = await Aliases.load(this.store.channelState, [definition], ["whatsapp"]);
  }

  async stop(): Promise<void> {
    await this.channel[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#owned[Symbol.asyncDispose]();
  }
}

const unchanged = (store: ChannelStateStore): ChannelStateStore => store;
const takeAll = async (): Promise<Receipt> => ({ outcome: "stored", duplicate: false });

/** A message on its way out to a chat. */
export function outgoing(
  chat: string,
  seq: number,
  text: string,
  more: Partial<OutgoingMessage> = {},
): OutgoingMessage {
  return {
    seq,
    group: "family",
    channel: "whatsapp",
    chat,
    kind: "reply",
    text,
    inReplyTo: [],
    turn: undefined,
    state: "sending",
    attempts: 1,
    createdAt: 0,
    ...more,
  };
}
