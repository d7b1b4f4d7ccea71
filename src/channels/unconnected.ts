import { type Channel, type Connection, ConnectionEnd, type Connector } from "./channel.ts";

/**
 * Lets a supervisor look after a channel that has no connection to lose: it is open from its start on. Should it end by
 * itself, it stays ended.
 */
export function unconnected(channel: Channel): Connector {
  return {
    name: channel.name,
    idempotent: channel.idempotent,
    connect: async (host) => {
      const ended = Promise.withResolvers<Error>();
      await channel.start(host.accept, {
        delivered: (seq) => host.delivered(seq),
        chatChanged: (facts) => host.chatChanged?.(facts),
        reacted: host.reacted,
        changed: ({ state, detail }) => {
          if (state === "closed") ended.resolve(new ConnectionEnd("closed", detail ?? "it has ended"));
          else host.degraded(state === "open" ? undefined : (detail ?? state));
        },
      });
      return connectionOf(channel, ended.promise);
    },
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}

function connectionOf(channel: Channel, ended: Promise<Error>): Connection {
  return {
    ended,
    send: (message, signal) => channel.send(message, signal),
    reconcile: async (message, signal) => (await channel.reconcile?.(message, signal)) ?? "unknown",
    signal: async (chat, sign) => channel.signal?.(chat, sign),
    ...(channel.showProgress && { showProgress: async (chat, line) => channel.showProgress?.(chat, line) }),
    ...(channel.showDelta && { showDelta: channel.showDelta }),
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}
