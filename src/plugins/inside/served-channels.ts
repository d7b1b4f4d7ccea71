import type { Logger } from "pino";

import type { Channel, Connection, ConnectionHost, Connector, Receipt } from "../../channels/channel.ts";
import type { ChannelPorts } from "../../channels/define-channel.ts";
import { unconnected } from "../../channels/unconnected.ts";
import type { OutgoingMessage, OutgoingReaction, ProgressLine } from "../../domain/chats/message.ts";
import { toError } from "../../lib/app-error.ts";
import { systemClock } from "../../lib/time/clock.ts";
import { sleep } from "../../lib/time/sleep.ts";
import type { ChannelStateStore } from "../../stores/contract/store.ts";
import type { HostCalls, PluginCalls } from "../process/calls.ts";
import { toFailure } from "../process/failures.ts";
import type { Served } from "../process/peer.ts";
import type { Definitions } from "./describe.ts";
import type { AskHost, TellHost } from "./ask-host.ts";

interface ServedChannelsOptions {
  readonly ask: AskHost;
  readonly tell: TellHost;
  readonly definitions: () => Promise<Definitions>;
}

/** So many calls of one connection wait for the host at once; further ones wait here. */
const mostAsked = 16;

/** The channels that the host is connected to through this process. */
export class ServedChannels {
  readonly #options: ServedChannelsOptions;
  readonly #connectors = new Map<string, Promise<{ connector: Connector; told: Told }>>();
  readonly #connections = new Map<number, Connection>();
  readonly #onlyOf = new Map<string, number>();
  readonly handlers = {
    channelConnect: (value: PluginCalls["channelConnect"], served: Served) => this.#connect(value, served),
    channelClose: async ({ connection }: PluginCalls["channelClose"]) => {
      const open = this.#connections.get(connection);
      this.#connections.delete(connection);
      await open?.[Symbol.asyncDispose]();
      // A channel without connections of its own ends with the only one, and is opened anew for the next.
      for (const [channel, only] of this.#onlyOf) if (only === connection) this.#connectors.delete(channel);
    },
    channelProbe: async ({ connection }: PluginCalls["channelProbe"], { signal }: Served) =>
      this.#get(connection).probe?.(signal),
    channelSend: async ({ connection, message }: PluginCalls["channelSend"], { signal }: Served) =>
      this.#get(connection).send(message as unknown as OutgoingMessage, signal),
    channelReconcile: async ({ connection, message }: PluginCalls["channelReconcile"], { signal }: Served) =>
      this.#get(connection).reconcile?.(message as unknown as OutgoingMessage, signal),
    channelSignal: async ({ connection, chat, sign }: PluginCalls["channelSignal"]) =>
      this.#get(connection).signal?.(chat, sign),
    channelReact: async ({ connection, chat, reaction }: PluginCalls["channelReact"]) =>
      this.#get(connection).react?.(chat, reaction as unknown as OutgoingReaction),
    channelProgress: async ({ connection, chat, line }: PluginCalls["channelProgress"]) =>
      this.#get(connection).showProgress?.(chat, line as unknown as ProgressLine),
  };

  constructor(options: ServedChannelsOptions) {
    this.#options = options;
  }

  async #connect(value: PluginCalls["channelConnect"], { signal }: Served): Promise<unknown> {
    const { connector, told } = await this.#opened(value);
    told.assistantName = value.assistantName;
    told.chats = value.chats;
    const connection = await connector.connect(this.#hostOf(value), signal);
    this.#connections.set(value.connection, connection);
    if (told.isWhole) this.#onlyOf.set(value.channel, value.connection);
    void connection.ended.then((end) => this.#options.tell("ended", value.connection, toFailure(end)));
    const optional = ["reconcile", "signal", "react", "showProgress", "probe"] as const;
    const can = optional.filter((name) => connection[name] !== undefined);
    return { idempotent: connector.idempotent, remark: connection.remark, can };
  }

  #get(connection: number): Connection {
    const open = this.#connections.get(connection);
    if (open) return open;
    throw new Error(`there is no connection ${connection}`);
  }

  /** Once for each channel: the host connects as often as it has to. One that could not be opened is opened anew. */
  #opened(value: PluginCalls["channelConnect"]): Promise<{ connector: Connector; told: Told }> {
    const known = this.#connectors.get(value.channel);
    if (known) return known;
    const opening = this.#open(value);
    this.#connectors.set(value.channel, opening);
    opening.catch(() => this.#connectors.delete(value.channel));
    return opening;
  }

  async #open(value: PluginCalls["channelConnect"]): Promise<{ connector: Connector; told: Told }> {
    const definition = (await this.#options.definitions()).channels.get(value.channel);
    if (!definition) throw new Error(`there is no channel ${value.channel}`);
    const told: Told = { assistantName: value.assistantName, chats: value.chats, isWhole: false };
    const ports = portsOf(value, told, this.#options.ask);
    const opened = await definition.open(definition.config.parse(value.settings), ports);
    told.isWhole = isChannel(opened);
    return { connector: isChannel(opened) ? unconnected(opened) : opened, told };
  }

  #hostOf({ channel, connection, wantsReactions }: PluginCalls["channelConnect"]): ConnectionHost {
    const { ask, tell } = this.#options;
    const inTurn = limited(mostAsked);
    return {
      accept: async ({ attachments, ...message }) => {
        const files = attachments?.map(({ kind, name, mimeType, bytes }) => ({ kind, name, mimeType, bytes }));
        const whole = { ...message, ...(files && { attachments: files }) } as HostCalls["accept"]["message"];
        return (await inTurn(() => ask("accept", { channel, connection, message: whole }))) as Receipt;
      },
      reacted: wantsReactions
        ? async (reaction) => (await inTurn(() => ask("reacted", { channel, connection, reaction }))) as Receipt
        : undefined,
      heard: () => tell("heard", connection, null),
      delivered: (seq) => tell("delivered", connection, seq),
      chatChanged: (facts) => tell("chatChanged", connection, facts),
      degraded: (reason) => tell("degraded", connection, reason ?? null),
    };
  }
}

/** What the host has told last. */
interface Told {
  assistantName: string;
  chats: readonly string[];
  /** It is a channel by itself, and no connector that makes one connection after the other. */
  isWhole: boolean;
}

function isChannel(opened: Channel | Connector): opened is Channel {
  return "start" in opened;
}

/** Lets only so many be under way; the others keep their order. */
function limited(most: number): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let free = most;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}

function portsOf({ channel, instance }: PluginCalls["channelConnect"], told: Told, ask: AskHost): ChannelPorts {
  return {
    get assistantName() {
      return told.assistantName;
    },
    instance,
    state: stateOf(channel, ask),
    outgoing: {
      after: async (seq, limit) => (await ask("outgoingAfter", { channel, seq, limit })) as readonly OutgoingMessage[],
      get: async (seq) => ((await ask("outgoingGet", { channel, seq })) as OutgoingMessage | null) ?? undefined,
      awaited: async () => (await ask("outgoingAwaited", { channel })) as readonly number[],
    },
    ids: { same: async () => undefined, open: () => [], none: () => undefined },
    chats: () => told.chats,
    variables: {},
    clock: systemClock,
    wait: sleep,
    random: Math.random,
    logger: printingLogger(),
    routes: absent("gateway"),
    console: absent("console"),
  };
}

function absent(what: string): () => never {
  return () => {
    throw new Error(`a plugin has no ${what}`);
  };
}

function toMap(answer: unknown): ReadonlyMap<string, Uint8Array> {
  return new Map((answer as readonly [string, string][]).map(([key, value]) => [key, Buffer.from(value, "base64")]));
}

function stateOf(channel: string, ask: AskHost): ChannelStateStore {
  return {
    read: async (space, keys) => toMap(await ask("stateRead", { channel, space, keys: [...keys] })),
    list: async (space) => toMap(await ask("stateList", { channel, space })),
    apply: async (space, changes) => {
      const list = [...changes].map(([key, value]): [string, string | null] => [
        key,
        value && Buffer.from(value).toString("base64"),
      ]);
      await ask("stateApply", { channel, space, changes: list });
    },
    rename: async (space, to) => void (await ask("stateRename", { channel, space, to })),
  };
}

/** What is printed is logged by the host. */
function printingLogger(): Logger {
  const levels = ["trace", "debug", "info", "warn", "error", "fatal"].map((level) => [level, printer(level)]);
  const logger = { ...Object.fromEntries(levels), child: () => logger } as unknown as Logger;
  return logger;
}

function printer(level: string): (facts: unknown, text?: string) => void {
  return (facts, text = "") => {
    const words = typeof facts === "string" ? facts : `${text} ${JSON.stringify(facts, errorsInWords)}`;
    process.stderr.write(`${level} ${words}\n`);
  };
}

function errorsInWords(_key: string, value: unknown): unknown {
  return value instanceof Error ? toError(value).message : value;
}
