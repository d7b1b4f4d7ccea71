import type { Registry } from "prom-client";

import type { AcceptMessage, ChannelState } from "../channels/channel.ts";
import type { HostConsole } from "../channels/define-channel.ts";
import { addressActor } from "../domain/actor.ts";
import type { Outbox } from "../delivery/outbox.ts";
import type { Readiness } from "../http/health.ts";
import type { HttpRefusal } from "../http/refusals.ts";
import { createGatewayServer } from "../http/server.ts";
import { addApprovalRoutes, type ApprovalRouteOptions } from "../operations/approval-routes.ts";
import { addTaskRoutes, type TaskHttpOptions } from "../operations/task-http.ts";
import { toError } from "../lib/app-error.ts";
import { type ChannelResources, openChannels, type RunningChannels } from "./channels.ts";
import type { ChatBook } from "../intake/chats/chat-book.ts";
import type { AppContext } from "./context.ts";

/** Where people and programs get in: the channels and the server that HTTP comes through. */
export interface Entrances extends RunningChannels {
  /** Puts a channel's new state on record. */
  readonly recordState: (channel: string, state: ChannelState) => void;
}

/**
 * Makes the entrances, and takes the gateway's port: one that is busy is known before anything else has begun. Nothing is taken
 * in before `startChannels`.
 */
export async function buildEntrances(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: {
    readonly console: HostConsole | undefined;
    readonly groups: ChannelResources["groups"];
    readonly registry: Registry;
    readonly ready: () => Promise<Readiness>;
    readonly desk: ApprovalRouteOptions["desk"];
    readonly taskDesk: TaskHttpOptions["taskDesk"];
  },
): Promise<Entrances> {
  const { config, clock, logger } = context;
  const { host, port, token, names } = config.gateway;
  const server =
    token === undefined
      ? undefined
      : stack.use(
          createGatewayServer({
            host,
            port,
            names,
            token,
            ready: options.ready,
            metrics: options.registry,
            clock,
            logger,
            onRefused: (refusal) => recordRefusal(context, refusal),
          }),
        );
  if (server) addApprovalRoutes(server.routes, { ...context, desk: options.desk });
  if (server) addTaskRoutes(server.routes, { ...context, groups: options.groups, taskDesk: options.taskDesk });
  const recordState = createStateRecorder(context, stack);
  const running = await openChannels(context, stack, { ...options, routes: server?.routes });
  const address = await server?.listen();
  if (address) logger.info({ host: address.host, port: address.port }, "the gateway listens");
  return { ...running, recordState };
}

function recordRefusal({ publish, logger }: AppContext, refusal: HttpRefusal): void {
  publish({ type: "http.refused", actor: addressActor(refusal.address), data: { ...refusal } }).catch(
    (error: unknown) => logger.error({ error }, "a refused request could not be recorded"),
  );
}

/** Begins to take messages in. A channel that cannot be opened is retried automatically and touches no other. */
export async function startChannels(
  entrances: Entrances,
  options: {
    readonly accept: AcceptMessage;
    readonly outbox: Pick<Outbox, "wake" | "confirm">;
    readonly chats: Pick<ChatBook, "changed">;
    /** A channel cannot help itself any more. */
    readonly alert?: (channel: string, reason: string) => void;
  },
): Promise<void> {
  const { accept, outbox, chats, alert } = options;
  for (const channel of entrances.channels) {
    const { name } = channel;
    await channel.start(accept, {
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
