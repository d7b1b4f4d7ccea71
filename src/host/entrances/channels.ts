import type { FastifyInstance } from "fastify";

import type { Channel, Connector } from "../../channels/channel.ts";
import type { ChannelDefinition, ChannelPorts, HostConsole, OutgoingMessages } from "../../channels/define-channel.ts";
import { SupervisedChannel } from "../../channels/supervisor.ts";
import { unconnected } from "../../channels/unconnected.ts";
import type { Group } from "../../domain/chats/group.ts";
import { namedIds } from "../../config/people.ts";
import { AppError } from "../../lib/app-error.ts";
import { sleep } from "../../lib/time/sleep.ts";
import type { ChannelStateStore, Store } from "../../stores/contract/store.ts";
import type { AppContext } from "../context.ts";

/** Where channels get in that need more than a connection of their own. */
export interface ChannelResources {
  /** The gateway's routes; undefined: there is no gateway. */
  readonly routes: FastifyInstance | undefined;
  /** Undefined: nobody started the host to talk to it. */
  readonly console: HostConsole | undefined;
  /** Those that there are at this moment; none before they are opened, which is later. */
  readonly groups: () => readonly Pick<Group, "name" | "channel" | "chat">[];
}

/** The running channels, in the order in which they are started, and when their input ends. */
export interface RunningChannels {
  readonly channels: readonly Channel[];
  /** Resolves when those with an end of input have come to it; never where there are none. */
  readonly inputEnded: Promise<void>;
}

type ChannelContext = Pick<
  AppContext,
  "config" | "adapters" | "home" | "environment" | "store" | "clock" | "logger" | "interception" | "aliases"
>;

/** Opens every configured channel, each under a supervisor; nothing comes in before they are started. */
export async function openChannels(
  context: ChannelContext,
  stack: AsyncDisposableStack,
  resources: ChannelResources,
): Promise<RunningChannels> {
  const { clock, logger, interception } = context;
  const channels: Channel[] = [];
  const ends: Promise<void>[] = [];
  for (const definition of channelsToOpen(context, resources)) {
    const settings = context.config.channels[definition.name];
    const opened = stack.use(await definition.open(settings, portsFor(context, definition, resources)));
    if (isChannel(opened) && opened.inputEnded) ends.push(opened.inputEnded);
    const connector = isChannel(opened) ? unconnected(opened) : opened;
    const supervisor = { clock, logger, wait: sleep, random: Math.random };
    channels.push(interception.channel(stack.use(new SupervisedChannel(connector, supervisor))));
  }
  const inputEnded = ends.length > 0 ? Promise.all(ends).then(() => undefined) : new Promise<void>(() => undefined);
  return { channels, inputEnded };
}

/** That of the console last: whoever sits there finds the others at work. */
function channelsToOpen({ config, adapters }: ChannelContext, { console }: ChannelResources): ChannelDefinition[] {
  const configured = adapters.channels.filter(({ name }) => Object.hasOwn(config.channels, name));
  const others = configured.filter(({ traits }) => !traits?.console);
  return console ? [...others, ...configured.filter(({ traits }) => traits?.console)] : others;
}

const mostAwaited = 1_000;

function isChannel(opened: Channel | Connector): opened is Channel {
  return "start" in opened;
}

function portsFor(
  { config, home, environment, store, clock, logger, aliases }: ChannelContext,
  definition: ChannelDefinition,
  { routes, console, groups }: ChannelResources,
): ChannelPorts {
  const { name, traits, variables = [] } = definition;
  return {
    get assistantName() {
      return config.assistant.name;
    },
    instance: home.instance,
    state: stateOf(store.channelState, name),
    outgoing: outgoingOf(store, name),
    ids: aliases.of(name, store.channelState, () => namedIds(config, name)),
    chats: () =>
      groups()
        .filter(({ channel }) => channel === name)
        .flatMap((group) => (traits?.typedChats ? [...new Set([group.chat, group.name])] : [group.chat])),
    variables: Object.fromEntries(variables.map((variable) => [variable, environment.variables[variable]])),
    clock,
    wait: sleep,
    random: Math.random,
    logger,
    routes: () => {
      if (traits?.gateway && routes) return routes;
      throw new AppError("bad_input", `The channel ${name} asks for routes without the trait "gateway".`);
    },
    console: () => {
      if (traits?.console && console) return console;
      throw new AppError("bad_input", `The channel ${name} asks for the console without the trait "console".`);
    },
  };
}

function outgoingOf({ outbox, approvals }: Pick<Store, "outbox" | "approvals">, channel: string): OutgoingMessages {
  return {
    awaited: () => approvals.openCards(channel, mostAwaited),
    after: (seq, limit) => outbox.ofChannel(channel, seq, limit),
    get: async (seq) => {
      const row = await outbox.get(seq);
      return row?.channel === channel ? row : undefined;
    },
  };
}

/**
 * The store with the spaces of one channel: what another one keeps, such as the keys of an account, is out of its
 * reach.
 */
function stateOf(state: ChannelStateStore, channel: string): ChannelStateStore {
  const own = (space: string): string => {
    if (space === channel || space.startsWith(`${channel}/`)) return space;
    throw new AppError("bad_input", `The channel ${channel} asks for the space "${space}", which is not its own.`);
  };
  return {
    read: async (space, keys) => state.read(own(space), keys),
    list: async (space) => state.list(own(space)),
    apply: async (space, changes) => state.apply(own(space), changes),
    rename: async (space, to) => state.rename(own(space), own(to)),
  };
}
