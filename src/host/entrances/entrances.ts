import type { AcceptMessage, Channel, ChannelState, TakeReaction } from "../../channels/channel.ts";
import type { HostConsole } from "../../channels/define-channel.ts";
import { hasTrait } from "../../config/adapters.ts";
import type { Outbox } from "../../delivery/outbox.ts";
import { addRestRoutes, type RestOptions } from "../../surfaces/http/operation-routes.ts";
import { addWatchRoutes, type WatchHttpOptions } from "../../surfaces/http/watching/watch-http.ts";
import { toError } from "../../lib/app-error.ts";
import { type ChannelResources, openChannels, type RunningChannels } from "./channels.ts";
import type { ChatBook } from "../../intake/chats/chat-book.ts";
import type { AppContext } from "../context.ts";
import { createHttpEntrance, type HttpEntrance, type HttpEntranceOptions } from "./http-entrance.ts";

/** Where people and programs get in: the channels and the server that HTTP comes through. */
export interface Entrances extends RunningChannels {
  /** Puts a channel's new state on record. */
  readonly recordState: (channel: string, state: ChannelState) => void;
  readonly httpEntrance: Pick<HttpEntrance, "url">;
}

/**
 * Makes the entrances, and takes the gateway's port: one that is busy is known before anything else has begun. Nothing
 * is taken in before `startChannels`.
 */
export async function buildEntrances(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: HttpEntranceOptions & {
    readonly console: HostConsole | undefined;
    readonly groups: ChannelResources["groups"];
    readonly operations: RestOptions["needs"];
  },
): Promise<Entrances> {
  const http = createHttpEntrance(context, stack, options);
  if (http.routes) addRestRoutes(http.routes, { ...context, needs: options.operations });
  if (http.routes) addWatchRoutes(http.routes, watchOptions(context));
  const recordState = createStateRecorder(context, stack);
  const running = await openChannels(context, stack, { ...options, routes: http.routes });
  showDeltas(context, stack, running.channels);
  await http.listen();
  return { ...running, recordState, httpEntrance: http };
}

/** Where the operator alone talks, what turns do may be seen at once. */
function showDeltas(context: AppContext, stack: AsyncDisposableStack, channels: readonly Channel[]): void {
  for (const channel of channels.filter(({ name }) => hasTrait(context, name, "operatorOnly"))) {
    const watching = context.deltas.watch({
      wants: (place) => place.channel === channel.name && channel.showDelta !== undefined,
      take: (delta) => channel.showDelta?.(delta),
    });
    stack.use(watching);
  }
}

function watchOptions({ store, events, deltas, publish, logger }: AppContext): WatchHttpOptions {
  return {
    store: store.events,
    next: (signal) => events.next(signal),
    deltas,
    publish,
    onFault: (error) => logger.error({ err: error }, "events could not be told to a subscriber"),
  };
}

/** Begins to take messages in. A channel that cannot be opened is retried automatically and touches no other. */
export async function startChannels(
  entrances: Omit<Entrances, "httpEntrance">,
  options: {
    readonly accept: AcceptMessage;
    readonly reacted: TakeReaction;
    readonly outbox: Pick<Outbox, "wake" | "confirm">;
    readonly chats: Pick<ChatBook, "changed">;
    /** A channel cannot help itself any more. */
    readonly alert?: (channel: string, reason: string) => void;
  },
): Promise<void> {
  const { accept, reacted, outbox, chats, alert } = options;
  for (const channel of entrances.channels) {
    const { name } = channel;
    await channel.start(accept, {
      reacted,
      delivered: (seq) => outbox.confirm(name, seq),
      chatChanged: (facts) => chats.changed(name, facts),
      needsOperator: (reason) => alert?.(name, reason),
      changed: (state) => {
        entrances.recordState(name, state);
        if (state.state === "open") outbox.wake();
      },
    });
  }
}

/** What is on its way to the log when the channels have ended is waited for. */
function createStateRecorder({ publish, logger }: AppContext, stack: AsyncDisposableStack): Entrances["recordState"] {
  const recording = new Set<Promise<void>>();
  stack.defer(async () => {
    await Promise.all(recording);
  });
  const put = async (channel: string, { state, detail }: ChannelState): Promise<void> => {
    try {
      await publish({ type: "channel.changed", actor: "host", data: { channel, state, detail } });
    } catch (error) {
      logger.error({ err: toError(error), channel }, "the state of a channel could not be recorded");
    }
  };
  return (channel, state) => {
    const recorded = put(channel, state);
    recording.add(recorded);
    void recorded.then(() => recording.delete(recorded));
  };
}
