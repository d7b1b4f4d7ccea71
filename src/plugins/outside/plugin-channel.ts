import type { Connection, ConnectionHost, Connector, Receipt } from "../../channels/channel.ts";
import { ConnectionEnd, SendError } from "../../channels/channel.ts";
import type { ChannelDefinition, ChannelPorts } from "../../channels/define-channel.ts";
import { defineChannel } from "../../channels/define-channel.ts";
import type { OutgoingMessage } from "../../domain/chats/message.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import type { DescribedChannel } from "../format/described.ts";
import { schemaOf } from "../format/narrow-schema.ts";
import { type HostCalls, hostNews, pluginAnswers } from "../process/calls.ts";
import { failureSchema, fromFailure } from "../process/failures.ts";
import type { PluginProcess } from "../process/plugin-process.ts";
import type { RunningPlugin } from "./running-plugin.ts";
import { secretsIn } from "./secret-settings.ts";

/** A kind of channel that is connected through a plugin's process. */
export function pluginChannel(plugin: RunningPlugin, described: DescribedChannel): ChannelDefinition {
  const { name, config, secrets, traits } = described;
  return defineChannel({
    name,
    config: schemaOf(config),
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
    options.plugin.answerFor(this.name, (name, value) => this.#answer(name, value));
  }

  /** As the plugin has said when it was last connected; nothing is sent before. */
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
    stack.use(plugin.listen(connection, (name, value) => hear(host, ended, { name, value })));
    const value = {
      channel: this.name,
      connection,
      settings: { ...settings },
      assistantName: ports.assistantName,
      instance: ports.instance,
      chats: [...ports.chats()],
      wantsReactions: host.reacted !== undefined,
    };
    const answer = pluginAnswers.channelConnect.parse(await process.peer.call("channelConnect", value, { signal }));
    this.#idempotent = answer.idempotent;
    void process.exited.then((reason) => ended.resolve(new ConnectionEnd("lost", reason.message)));
    return connectionOf({ process, connection, answer, ended: ended.promise, owned: stack.move() });
  }

  /** The plugin's process belongs to whoever made it. */
  async [Symbol.asyncDispose](): Promise<void> {}

  async #answer(name: keyof HostCalls, value: HostCalls[keyof HostCalls]): Promise<unknown> {
    if (name === "accept") return this.#accept(value as HostCalls["accept"]);
    if (name === "reacted") return this.#reacted(value as HostCalls["reacted"]);
    return askState(this.#options.ports, name, value);
  }

  async #accept({ connection, message }: HostCalls["accept"]): Promise<Receipt> {
    this.#requireOwn(message.channel);
    const { attachments = [], ...rest } = message;
    const files = attachments.map((file) => ({ ...file, fetch: cannotFetch }));
    return this.#host(connection).accept({ ...rest, ...(files.length > 0 && { attachments: files }) });
  }

  async #reacted({ connection, reaction }: HostCalls["reacted"]): Promise<Receipt> {
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

function hear(
  host: ConnectionHost,
  ended: PromiseWithResolvers<Error>,
  { name, value }: { readonly name: string; readonly value: unknown },
): void {
  if (!Object.hasOwn(hostNews, name)) return;
  if (name === "ended") {
    const failure = failureSchema.safeParse(value);
    return ended.resolve(failure.success ? fromFailure(failure.data) : new Error("the connection has ended"));
  }
  const told = hostNews[name as keyof typeof hostNews].safeParse(value);
  if (!told.success) return;
  if (name === "heard") host.heard();
  else if (name === "delivered") host.delivered(told.data as number);
  else if (name === "degraded") host.degraded((told.data as string | null) ?? undefined);
  else if (name === "chatChanged")
    host.chatChanged?.(told.data as Parameters<NonNullable<ConnectionHost["chatChanged"]>>[0]);
}

interface OpenConnection {
  readonly process: PluginProcess;
  readonly connection: number;
  readonly answer: { readonly remark?: string | undefined; readonly can: readonly string[] };
  readonly ended: Promise<Error>;
  readonly owned: AsyncDisposableStack;
}

function connectionOf({ process: { peer }, connection, answer, ended, owned }: OpenConnection): Connection {
  const can = (name: string): boolean => answer.can.includes(name);
  const ask = async (name: string, value: object, signal?: AbortSignal): Promise<unknown> =>
    peer.call(name, { connection, ...value }, { signal });
  return {
    ended,
    remark: answer.remark,
    send: (message, signal) => send(ask, message, signal),
    ...(can("reconcile") && {
      reconcile: async (message: OutgoingMessage, signal: AbortSignal) =>
        pluginAnswers.channelReconcile
          .catch("unknown")
          .parse(await ask("channelReconcile", { message: sendable(message) }, signal)),
    }),
    ...(can("signal") && { signal: async (chat, sign) => void (await ask("channelSignal", { chat, sign })) }),
    ...(can("react") && { react: async (chat, reaction) => void (await ask("channelReact", { chat, reaction })) }),
    ...(can("showProgress") && {
      showProgress: async (chat, line) => void (await ask("channelProgress", { chat, line })),
    }),
    ...(can("probe") && { probe: async (signal: AbortSignal) => void (await ask("channelProbe", {}, signal)) }),
    [Symbol.asyncDispose]: async () => {
      await ask("channelClose", {}, AbortSignal.timeout(closeMs)).catch(() => undefined);
      await owned.disposeAsync();
    },
  };
}

const closeMs = 4_000;

async function send(
  ask: (name: string, value: object, signal?: AbortSignal) => Promise<unknown>,
  message: OutgoingMessage,
  signal: AbortSignal,
): Promise<void> {
  if (message.file) throw new SendError("files do not pass through channels of plugins", { permanent: true });
  try {
    await ask("channelSend", { message: sendable(message) }, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SendError) throw error;
    // Its process may have sent it before it ended.
    throw new SendError(toError(error).message, { ambiguous: true, cause: error });
  }
}

/** What a channel needs of a row of the outbox. */
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
}: OutgoingMessage): object {
  return { seq, channel, chat, kind, text, inReplyTo, agent, thread, quote, reaction, attempts, createdAt };
}

function toList(map: ReadonlyMap<string, Uint8Array>): [string, string][] {
  return [...map].map(([key, bytes]) => [key, Buffer.from(bytes).toString("base64")]);
}

async function askState(
  { state, outgoing }: Pick<ChannelPorts, "state" | "outgoing">,
  name: keyof HostCalls,
  value: HostCalls[keyof HostCalls],
): Promise<unknown> {
  const given = value as HostCalls["stateRead"] &
    HostCalls["stateApply"] &
    HostCalls["stateRename"] &
    HostCalls["outgoingAfter"];
  if (name === "stateRead") return toList(await state.read(given.space, given.keys));
  if (name === "stateList") return toList(await state.list(given.space));
  if (name === "stateRename") return state.rename(given.space, given.to);
  if (name === "outgoingAwaited") return outgoing.awaited();
  if (name === "outgoingAfter") return (await outgoing.after(given.seq, given.limit)).map(sendable);
  if (name === "outgoingGet") {
    const found = await outgoing.get(given.seq);
    return found && sendable(found);
  }
  if (name !== "stateApply") throw new Error(`a channel cannot ask for ${name}`);
  const changes = given.changes.map(([key, bytes]): [string, Uint8Array | null] => [
    key,
    bytes === null ? null : Buffer.from(bytes, "base64"),
  ]);
  return state.apply(given.space, new Map(changes));
}
