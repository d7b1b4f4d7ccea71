import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";

import { AppError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import { sleep } from "../lib/time/sleep.ts";
import type { Group } from "../domain/chats/group.ts";
import type { ChannelStateStore, Store } from "../stores/contract/store.ts";
import type { Channel, Connector } from "./channel.ts";
import type { ChannelDefinition, ChannelPorts, HostConsole, KnownIds, OutgoingMessages } from "./define-channel.ts";
import { SupervisedChannel } from "./supervisor.ts";
import { unconnected } from "./unconnected.ts";

/** Everything that channels are opened with. */
export interface ChannelResources {
  /** Settings of the configured channels by name. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly assistantName: () => string;
  readonly instance: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly store: Pick<Store, "channelState" | "outbox" | "approvals">;
  readonly idsOf: (channel: string) => KnownIds;
  /** The routes of the gateway; undefined without a gateway. */
  readonly routes: FastifyInstance | undefined;
  /** Undefined when nobody started the host to talk to it. */
  readonly console: HostConsole | undefined;
  /** The groups at this moment; none before they are opened, which is later. */
  readonly groups: () => readonly Pick<Group, "name" | "channel" | "chat">[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The running channels, in the order in which they are started, and when their input ends. */
export interface RunningChannels {
  readonly channels: readonly Channel[];
  /** Resolves when all channels with an end of input have come to it; never without such channels. */
  readonly inputEnded: Promise<void>;
}

/** Maximum number of questions to people whose reactions a channel watches for. */
const mostSent = 1_000;

/** Opens every configured channel, each under a supervisor; nothing comes in before they are started. */
export async function openChannels(
  definitions: readonly ChannelDefinition[],
  stack: AsyncDisposableStack,
  resources: ChannelResources,
): Promise<RunningChannels> {
  const { settings, clock, logger } = resources;
  const channels: Channel[] = [];
  const ends: Promise<void>[] = [];
  for (const definition of channelsToOpen(definitions, resources)) {
    const opened = stack.use(await definition.open(settings[definition.name], portsFor(definition, resources)));
    if (isChannel(opened) && opened.inputEnded) ends.push(opened.inputEnded);
    const connector = isChannel(opened) ? unconnected(opened) : opened;
    const supervisor = { clock, logger, wait: sleep, random: Math.random };
    channels.push(stack.use(new SupervisedChannel(connector, supervisor)));
  }
  const inputEnded = ends.length > 0 ? Promise.all(ends).then(() => undefined) : new Promise<void>(() => undefined);
  return { channels, inputEnded };
}

/** Returns the console's channel last: a person there finds the others at work. */
function channelsToOpen(
  definitions: readonly ChannelDefinition[],
  { settings, console }: ChannelResources,
): ChannelDefinition[] {
  const configured = definitions.filter(({ name }) => Object.hasOwn(settings, name));
  const others = configured.filter(({ traits }) => !traits?.console);
  return console ? [...others, ...configured.filter(({ traits }) => traits?.console)] : others;
}

function isChannel(opened: Channel | Connector): opened is Channel {
  return "start" in opened;
}

function portsFor(definition: ChannelDefinition, resources: ChannelResources): ChannelPorts {
  const { name, traits, variables = [] } = definition;
  const { store, routes, console, groups } = resources;
  return {
    get assistantName() {
      return resources.assistantName();
    },
    instance: resources.instance,
    state: stateOf(store.channelState, name),
    outgoing: outgoingOf(store, name),
    ids: resources.idsOf(name),
    chats: () =>
      groups()
        .filter(({ channel }) => channel === name)
        .flatMap((group) => (traits?.typedChats ? [...new Set([group.chat, group.name])] : [group.chat])),
    variables: Object.fromEntries(variables.map((variable) => [variable, resources.variables[variable]])),
    clock: resources.clock,
    wait: sleep,
    random: Math.random,
    logger: resources.logger,
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
    sentTo: async (chat) => [
      ...(await approvals.openCards(channel, mostSent)),
      ...(await outbox.seqsIn(channel, chat, mostSent)),
    ],
    after: (seq, limit) => outbox.ofChannel(channel, seq, limit),
    get: async (seq) => {
      const row = await outbox.get(seq);
      return row?.channel === channel ? row : undefined;
    },
  };
}

/** Narrows the store to the spaces of one channel: others, such as the keys of an account, are out of its reach. */
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
