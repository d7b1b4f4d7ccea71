import type { Connection, ConnectionHost, Connector, Receipt } from "../../channels/channel.ts";
import { ConnectionEnd, SendError } from "../../channels/channel.ts";
import type { ChannelDefinition, ChannelPorts } from "../../channels/define-channel.ts";
import { defineChannel } from "../../channels/define-channel.ts";
import type { OutgoingMessage } from "../../domain/chats/message.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import type { DescribedChannel } from "../format/described.ts";
import { validatorOf } from "../format/narrow-schema.ts";
import type { CallValue } from "../../processes/line.ts";
import type { plugin as protocol } from "../../processes/protocol.ts";
import { pluginFailures } from "../process/failures.ts";
import type { ChannelAnswers, Heard, PluginProcess } from "../process/plugin-process.ts";
import type { RunningPlugin } from "./running-plugin.ts";
import { secretsIn } from "./secret-settings.ts";

/** A kind of channel that is connected through a plugin's process. */
export function pluginChannel(plugin: RunningPlugin, described: DescribedChannel): ChannelDefinition {
  const { name, config, secrets, traits } = described;
  return defineChannel({
    name,
    config: validatorOf(config),
    traits,
    secrets: (settings) => secretsIn(config, secrets, settings),
    open: async (settings, ports) => new PluginConnector({ plugin, described, settings, ports }),
  }) as ChannelDefinition;
}

interface PluginConnectorOptions {
  readonly plugin: RunningPlugin;
  readonly described: DescribedChannel;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly ports: ChannelPorts;
}

/**
 * Connects through the plugin's process; with it the connection ends, and the supervisor makes another one, later each
 * time.
 */
class PluginConnector implements Connector {
  readonly name: string;
  readonly #options: PluginConnectorOptions;
  /** By number: who is talked to over each connection that is open. */
  readonly #hosts = new Map<number, ConnectionHost>();
  #idempotent = false;

  constructor(options: PluginConnectorOptions) {
    this.name = options.described.name;
    this.#options = options;
    options.plugin.answerFor(this.name, this.#answers());
  }

  /** Value that the plugin reported when last connected; nothing is sent before. */
  get idempotent(): boolean {
    return this.#idempotent;
  }

  async connect(host: ConnectionHost, signal: AbortSignal): Promise<Connection> {
    const { plugin, settings, ports } = this.#options;
    const process = await plugin.process().catch((error: unknown) => {
      throw error instanceof AppError && error.code === "plugin_refused"
        ? new ConnectionEnd("closed", error.message)
        : toError(error);
    });
    const connection = plugin.nextHandle();
    await using stack = new AsyncDisposableStack();
    this.#hosts.set(connection, host);
    stack.defer(() => void this.#hosts.delete(connection));
    const ended = Promise.withResolvers<Error>();
    stack.use(plugin.listen(connection, heardBy(host, ended)));
    const value = {
      channel: this.name,
      connection,
      settings: { ...settings },
      assistantName: ports.assistantName,
      instance: ports.instance,
      chats: [...ports.chats()],
      wantsReactions: host.reacted !== undefined,
    };
    const answer = await process.line.call("channelConnect", value, { signal });
    this.#idempotent = answer.idempotent;
    void process.exited.then((reason) => ended.resolve(new ConnectionEnd("lost", reason.message)));
    return connectionOf({ process, connection, answer, ended: ended.promise, owned: stack.move() });
  }

  /** Does nothing: the plugin's process belongs to its creator. */
  async [Symbol.asyncDispose](): Promise<void> {}

  #answers(): ChannelAnswers {
    const { state, outgoing } = this.#options.ports;
    return {
      accept: (value) => this.#accept(value),
      reacted: (value) => this.#reacted(value),
      stateRead: async ({ space, keys }) => toList(await state.read(space, keys)),
      stateList: async ({ space }) => toList(await state.list(space)),
      stateRename: ({ space, to }) => state.rename(space, to),
      stateApply: ({ space, changes }) => state.apply(space, toChanges(changes)),
      outgoingSentTo: ({ chat }) => outgoing.sentTo(chat),
      outgoingAfter: async ({ seq, limit }) => (await outgoing.after(seq, limit)).map(sendable),
      outgoingGet: async ({ seq }) => {
        const found = await outgoing.get(seq);
        return found && sendable(found);
      },
    };
  }

  async #accept({ connection, message }: CallValue<typeof protocol.host, "accept">): Promise<Receipt> {
    this.#requireOwn(message.channel);
    const { attachments = [], ...rest } = message;
    const files = attachments.map((file) => ({ ...file, fetch: cannotFetch }));
    return this.#host(connection).accept({ ...rest, ...(files.length > 0 && { attachments: files }) });
  }

  async #reacted({ connection, reaction }: CallValue<typeof protocol.host, "reacted">): Promise<Receipt> {
    this.#requireOwn(reaction.channel);
    const host = this.#host(connection);
    if (!host.reacted) throw new Error("nobody wants to know of reactions");
    return host.reacted(reaction);
  }

  /** A plugin speaks for its own channel alone. */
  #requireOwn(channel: string): void {
    if (channel !== this.name) throw new Error(`a message of the channel ${channel} does not come from ${this.name}`);
  }

  #host(connection: number): ConnectionHost {
    const host = this.#hosts.get(connection);
    if (host) return host;
    throw new Error(`there is no connection ${connection}`);
  }
}

async function cannotFetch(): Promise<void> {
  throw new Error("files do not pass through channels of plugins");
}

function heardBy(host: ConnectionHost, ended: PromiseWithResolvers<Error>): Heard {
  return {
    ended: (failure) => ended.resolve(pluginFailures.decode(failure)),
    heard: () => host.heard(),
    delivered: (seq) => host.delivered(seq),
    degraded: (reason) => host.degraded(reason ?? undefined),
    chatChanged: (facts) => host.chatChanged?.(facts),
  };
}

interface OpenConnection {
  readonly process: PluginProcess;
  readonly connection: number;
  readonly answer: { readonly remark?: string | undefined; readonly can: readonly string[] };
  readonly ended: Promise<Error>;
  readonly owned: AsyncDisposableStack;
}

function connectionOf({ process: { line }, connection, answer, ended, owned }: OpenConnection): Connection {
  const can = (name: string): boolean => answer.can.includes(name);
  return {
    ended,
    remark: answer.remark,
    send: (message, signal) => send(line, { connection, message }, signal),
    ...(can("reconcile") && {
      reconcile: (message: OutgoingMessage, signal: AbortSignal) =>
        line.call("channelReconcile", { connection, message: sendable(message) }, { signal }),
    }),
    ...(can("signal") && { signal: (chat, sign) => line.call("channelSignal", { connection, chat, sign }) }),
    ...(can("react") && {
      react: (chat, reaction) => line.call("channelReact", { connection, chat, reaction: { ...reaction } }),
    }),
    ...(can("showProgress") && {
      showProgress: (chat, shown) => line.call("channelProgress", { connection, chat, line: { ...shown } }),
    }),
    ...(can("probe") && {
      probe: (signal: AbortSignal) => line.call("channelProbe", { connection }, { signal }),
    }),
    [Symbol.asyncDispose]: async () => {
      await line.call("channelClose", { connection }, { signal: AbortSignal.timeout(closeMs) }).catch(() => undefined);
      await owned.disposeAsync();
    },
  };
}

const closeMs = 4_000;

async function send(
  line: PluginProcess["line"],
  { connection, message }: { readonly connection: number; readonly message: OutgoingMessage },
  signal: AbortSignal,
): Promise<void> {
  if (message.file) throw new SendError("files do not pass through channels of plugins", { permanent: true });
  try {
    await line.call("channelSend", { connection, message: sendable(message) }, { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SendError) throw error;
    // Its process may have sent it before it ended.
    throw new SendError(toError(error).message, { ambiguous: true, cause: error });
  }
}

/** Fields of an outbox row for a channel. */
function sendable({
  seq,
  channel,
  chat,
  kind,
  text,
  inReplyTo,
  agent,
  thread,
  quote,
  reaction,
  attempts,
  createdAt,
}: OutgoingMessage): Record<string, unknown> {
  return { seq, channel, chat, kind, text, inReplyTo, agent, thread, quote, reaction, attempts, createdAt };
}

function toList(map: ReadonlyMap<string, Uint8Array>): [string, string][] {
  return [...map].map(([key, bytes]) => [key, Buffer.from(bytes).toString("base64")]);
}

function toChanges(list: readonly (readonly [string, string | null])[]): ReadonlyMap<string, Uint8Array | null> {
  return new Map(list.map(([key, bytes]) => [key, bytes === null ? null : Buffer.from(bytes, "base64")]));
}
