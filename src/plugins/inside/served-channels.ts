import type { Logger } from "pino";
import type * as z from "zod";

import type { Channel, Connection, ConnectionHost, Connector, Receipt } from "../../channels/channel.ts";
import type { ChannelPorts } from "../../channels/define-channel.ts";
import { unconnected } from "../../channels/unconnected.ts";
import type { OutgoingMessage, OutgoingReaction, ProgressLine } from "../../domain/chats/message.ts";
import { toError } from "../../lib/app-error.ts";
import { systemClock } from "../../lib/time/clock.ts";
import { sleep } from "../../lib/time/sleep.ts";
import type { ChannelStateStore } from "../../stores/contract/store.ts";
import type { Answers, CallContext, CallValue } from "../../processes/line.ts";
import type { plugin } from "../../processes/protocol.ts";
import { pluginFailures } from "../process/failures.ts";
import type { Inside, PluginHost } from "./plugin-host.ts";

type Calls = Answers<typeof plugin.process>;
type Facts = z.input<typeof plugin.host.news.chatChanged>;
type Connect = CallValue<typeof plugin.process, "channelConnect">;

/** Maximum parallel calls of a connection to the host; further ones queue here. */
const mostAsked = 16;

/** The channels that the host is connected to through this process. */
export class ServedChannels {
  readonly #inside: Inside;
  readonly #connectors = new Map<string, Promise<{ connector: Connector; told: Told }>>();
  readonly #connections = new Map<number, Connection>();
  readonly #onlyOf = new Map<string, number>();
  readonly answers: Pick<Calls, Extract<keyof Calls, `channel${string}`>> = {
    channelConnect: (value, context) => this.#connect(value, context),
    channelClose: async ({ connection }) => {
      const open = this.#connections.get(connection);
      this.#connections.delete(connection);
      await open?.[Symbol.asyncDispose]();
      // Its own channel without connections ends with the only one, and is opened anew for the next.
      for (const [channel, only] of this.#onlyOf) if (only === connection) this.#connectors.delete(channel);
    },
    channelProbe: async ({ connection }, { signal }) => this.#get(connection).probe?.(signal),
    channelSend: async ({ connection, message }, { signal }) =>
      this.#get(connection).send(message as unknown as OutgoingMessage, signal),
    channelReconcile: async ({ connection, message }, { signal }) =>
      (await this.#get(connection).reconcile?.(message as unknown as OutgoingMessage, signal)) ?? "unknown",
    channelSignal: async ({ connection, chat, sign }) => this.#get(connection).signal?.(chat, sign),
    channelReact: async ({ connection, chat, reaction }) =>
      this.#get(connection).react?.(chat, reaction as unknown as OutgoingReaction),
    channelProgress: async ({ connection, chat, line }) =>
      this.#get(connection).showProgress?.(chat, line as unknown as ProgressLine),
  };

  constructor(inside: Inside) {
    this.#inside = inside;
  }

  async #connect(value: Connect, { signal }: CallContext): ReturnType<Calls["channelConnect"]> {
    const { connector, told } = await this.#opened(value);
    told.assistantName = value.assistantName;
    told.chats = value.chats;
    const connection = await connector.connect(this.#hostOf(value), signal);
    this.#connections.set(value.connection, connection);
    if (told.isWhole) this.#onlyOf.set(value.channel, value.connection);
    void connection.ended.then((end) =>
      this.#inside.host().tell("ended", pluginFailures.encode(end), value.connection),
    );
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
  #opened(value: Connect): Promise<{ connector: Connector; told: Told }> {
    const known = this.#connectors.get(value.channel);
    if (known) return known;
    const opening = this.#open(value);
    this.#connectors.set(value.channel, opening);
    opening.catch(() => this.#connectors.delete(value.channel));
    return opening;
  }

  async #open(value: Connect): Promise<{ connector: Connector; told: Told }> {
    const definition = (await this.#inside.definitions).channels.get(value.channel);
    if (!definition) throw new Error(`there is no channel ${value.channel}`);
    const told: Told = { assistantName: value.assistantName, chats: value.chats, isWhole: false };
    const ports = portsOf(value, told, this.#inside.host);
    const opened = await definition.open(definition.config.parse(value.settings), ports);
    told.isWhole = isChannel(opened);
    return { connector: isChannel(opened) ? unconnected(opened) : opened, told };
  }

  #hostOf({ channel, connection, wantsReactions }: Connect): ConnectionHost {
    const host = this.#inside.host();
    const inTurn = limited(mostAsked);
    return {
      accept: async ({ attachments, ...message }) => {
        const files = attachments?.map(({ kind, name, mimeType, bytes }) => ({ kind, name, mimeType, bytes }));
        const whole = { ...message, ...(files && { attachments: files }) } as CallValue<
          typeof plugin.host,
          "accept"
        >["message"];
        return (await inTurn(() => host.call("accept", { channel, connection, message: whole }))) as Receipt;
      },
      reacted: wantsReactions
        ? async (reaction) => (await inTurn(() => host.call("reacted", { channel, connection, reaction }))) as Receipt
        : undefined,
      heard: () => host.tell("heard", null, connection),
      delivered: (seq) => host.tell("delivered", seq, connection),
      chatChanged: (facts) => host.tell("chatChanged", facts as Facts, connection),
      degraded: (reason) => host.tell("degraded", reason ?? null, connection),
    };
  }
}

/** Last state reported by the host. */
interface Told {
  assistantName: string;
  chats: readonly string[];
  /** True for a whole channel, false for a connector that makes connections. */
  isWhole: boolean;
}

function isChannel(opened: Channel | Connector): opened is Channel {
  return "start" in opened;
}

/** Limits parallel tasks; others keep their order. */
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

function portsOf({ channel, instance }: Connect, told: Told, host: () => PluginHost): ChannelPorts {
  return {
    get assistantName() {
      return told.assistantName;
    },
    instance,
    state: stateOf(channel, host),
    outgoing: {
      after: async (seq, limit) =>
        (await host().call("outgoingAfter", { channel, seq, limit })) as readonly OutgoingMessage[],
      get: async (seq) => ((await host().call("outgoingGet", { channel, seq })) as OutgoingMessage | null) ?? undefined,
      sentTo: async (chat) => (await host().call("outgoingSentTo", { channel, chat })) as readonly number[],
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

function stateOf(channel: string, host: () => PluginHost): ChannelStateStore {
  return {
    read: async (space, keys) => toMap(await host().call("stateRead", { channel, space, keys: [...keys] })),
    list: async (space) => toMap(await host().call("stateList", { channel, space })),
    apply: async (space, changes) => {
      const list = [...changes].map(([key, value]): [string, string | null] => [
        key,
        value && Buffer.from(value).toString("base64"),
      ]);
      await host().call("stateApply", { channel, space, changes: list });
    },
    rename: (space, to) => host().call("stateRename", { channel, space, to }),
  };
}

/** Logger that prints, for the host's log. */
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
