import type { Registry } from "prom-client";

import type { HostConsole } from "../../channels/define-channel.ts";
import { type ChannelResources, openChannels, type RunningChannels } from "../../channels/open-channels.ts";
import { hasTrait } from "../../config/adapters.ts";
import { namedIds } from "../../config/configured/people.ts";
import { ChannelStates } from "../../intake/channel-states.ts";
import { showDeltas } from "../../records/events/deltas/show-deltas.ts";
import { Gateway } from "../../surfaces/http/gateway.ts";
import type { Readiness } from "../../surfaces/http/health.ts";
import type { AppContext } from "../context.ts";

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
    readonly groups: ChannelResources["groups"];
    readonly registry: Registry;
    readonly ready: () => Promise<Readiness>;
  },
): Promise<Entrances> {
  const { live, config, store, home, environment, adapters, aliases, interception } = context;
  const { events, deltas, publish, clock, logger } = context;
  const { registry, ready, console, groups } = options;
  const onFault = (error: Error): void => logger.error({ err: error }, "events could not be sent to a subscriber");
  const watching = { store: store.events, next: (signal: AbortSignal) => events.next(signal), deltas, onFault };
  const parts = { live, registry, ready, watching, version: context.version, publish, clock, logger };
  const gateway = stack.use(new Gateway(parts));
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
    groups,
    clock,
    logger,
  });
  const channels = opened.map((channel) => interception.channel(channel));
  const isOperators = ({ name }: { readonly name: string }): boolean => hasTrait(context, name, "operatorOnly");
  stack.use(showDeltas(deltas, channels.filter(isOperators)));
  await gateway.listen();
  return { channels, inputEnded, states, gateway };
}
