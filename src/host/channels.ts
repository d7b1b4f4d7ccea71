import type { Registry } from "prom-client";

import type { HostConsole } from "../channels/define-channel.ts";
import { type RunningChannels, openChannels } from "../channels/open-channels.ts";
import { namedIds } from "../config/configured/people.ts";
import { createEventNotices } from "../delivery/event-notices.ts";
import { GroupNotices } from "../delivery/group-notices.ts";
import { type TellOperator, createTellOperator } from "../delivery/operator-notices.ts";
import { Outbox } from "../delivery/outbox.ts";
import { Progress } from "../delivery/progress.ts";
import { createQuotes } from "../delivery/quotes.ts";
import { SignsOfLife } from "../delivery/signs-of-life.ts";
import { ChannelStates } from "../intake/channel-states.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import type { IntakeGuard } from "../intake/limits/intake-guard.ts";
import { showDeltas } from "../records/events/deltas/show-deltas.ts";
import type { ContainerEngine } from "../sandbox/engine/engine.ts";
import { RetryingStore } from "../stores/retrying-store.ts";
import { Gateway } from "../surfaces/http/gateway.ts";
import { readinessOf } from "../surfaces/http/health.ts";
import type { AppContext } from "./context.ts";

/** The channels and the HTTP server: how people and programs get in. */
export interface Entrances extends RunningChannels {
  readonly states: ChannelStates;
  readonly gateway: Gateway;
}

/**
 * Makes the entrances, and takes the gateway's port: one that is busy is known before anything else has begun. Nothing
 * is taken in before `startChannels`.
 */
export async function buildEntrances(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: {
    readonly console: HostConsole | undefined;
    readonly engine: Pick<ContainerEngine, "facts">;
    readonly groups: GroupRegistry;
    readonly guard: IntakeGuard;
    readonly registry: Registry;
  },
): Promise<Entrances> {
  const { live, config, store, home, environment, adapters, aliases, interception } = context;
  const { deltas, hasTrait, publish, version, clock, logger } = context;
  const { registry, console, engine, groups, guard } = options;
  const ready = () => readinessOf(engine, guard);
  const gateway = stack.use(new Gateway({ live, registry, ready, version, publish, clock, logger }));
  const states = stack.use(new ChannelStates(publish, logger));
  const { channels: opened, inputEnded } = await openChannels(adapters.channels, stack, {
    settings: config.channels,
    assistantName: () => config.assistant.name,
    instance: home.instance,
    variables: environment.variables,
    store,
    idsOf: (name) => aliases.of(name, store.channelState, () => namedIds(config, name)),
    routes: gateway.routes,
    console,
    groups: () => groups.list(),
    clock,
    logger,
  });
  const channels = opened.map((channel) => interception.channel(channel));
  const isOperators = ({ name }: { readonly name: string }): boolean => hasTrait(name, "operatorOnly");
  stack.use(showDeltas(deltas, channels.filter(isOperators)));
  await gateway.listen();
  return { channels, inputEnded, states, gateway };
}

/** The outbox, and notices to people. */
export interface HostDelivery {
  readonly outbox: Outbox;
  /** Wakes the outbox. */
  readonly deliver: () => void;
  readonly notices: GroupNotices;
  readonly progress: Progress;
  readonly tell: TellOperator;
  readonly retrying: RetryingStore;
  /** Context whose store and events wait for trouble of the machine to pass. */
  readonly patient: AppContext;
}

/** Opens the outbox and the notices, with a store and events that wait for trouble of the machine to pass. */
export function openDelivery(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: { readonly groups: GroupRegistry; readonly guard: IntakeGuard; readonly entrances: Entrances },
): HostDelivery {
  const { store, clock, logger, events } = context;
  const { groups, guard, entrances } = options;
  const { channels } = entrances;
  const outbox = stack.use(createOutbox(context, entrances));
  const tell = createTellOperator({ outboxStore: store.outbox, outbox, groups, channels, clock, logger });
  events.subscribe("operator notices", createEventNotices(logger, tell));
  const deliver = (): void => outbox.wake();
  const retrying = new RetryingStore(store, { logger, onTrouble: (error) => guard.failed(error) });
  const patient = { ...context, store: retrying.store, publish: retrying.retried(context.publish) };
  const notices = new GroupNotices(retrying.store.outbox, deliver, clock);
  const progress = stack.use(createProgress(context, { entrances, outbox }));
  return { outbox, deliver, notices, progress, tell, retrying, patient };
}

function createOutbox(context: AppContext, { channels }: Entrances): Outbox {
  const { store, hasTrait, logger, clock, publish } = context;
  const canQuote = (channel: string): boolean => hasTrait(channel, "quotes");
  return new Outbox({
    quoteOf: createQuotes({ messages: store.messages, canQuote }),
    namesAgents: (channel) => hasTrait(channel, "namesAgents"),
    store: store.outbox,
    channelOf: (name) => channels.find((channel) => channel.name === name),
    logger,
    clock,
    publish,
  });
}

/** Shows signs of life in a group's chat, on channels that can. */
export function createSigns(groups: GroupRegistry, entrances: Entrances): SignsOfLife {
  return new SignsOfLife({
    show: async (name, sign) => {
      const group = groups.byName(name);
      const channel = entrances.channels.find((candidate) => candidate.name === group?.channel);
      if (group) await channel?.signal?.(group.chat, sign);
    },
  });
}

/** Shows what turns are doing, as the configuration wants it. */
function createProgress(
  context: AppContext,
  { entrances, outbox }: { readonly entrances: Entrances; readonly outbox: Pick<Outbox, "wake"> },
): Progress {
  const { live, store, hasTrait, clock } = context;
  return new Progress({
    settingsOf: (group) => live.groupOf(group).progress,
    channelOf: ({ channel: name }) => {
      const channel = entrances.channels.find((candidate) => candidate.name === name);
      return channel && { channel, edits: hasTrait(name, "edits") };
    },
    notify: async (draft) => {
      await store.outbox.add(draft, clock.now());
      outbox.wake();
    },
    clock,
  });
}
