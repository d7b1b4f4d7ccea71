import type { Registry } from "prom-client";

import { channels as catalog } from "../channels/catalog.ts";
import type { AcceptMessage, Channel } from "../channels/channel.ts";
import type { Readiness } from "../gateway/health.ts";
import { createGatewayServer } from "../gateway/server.ts";
import type { GatewayServer } from "../gateway/server.ts";
import type { AppContext } from "./context.ts";

type TerminalChannel = Awaited<ReturnType<(typeof catalog)["terminal"]>>;

/** How the terminal is used, when it is. */
export interface TerminalUse {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly error: NodeJS.WritableStream;
  readonly json: boolean;
  readonly interactive: boolean;
}

/** Where people and programs get in: the channels and the server that HTTP comes through. */
export interface Doors {
  readonly channels: readonly Channel[];
  readonly terminal: TerminalChannel | undefined;
  readonly server: GatewayServer | undefined;
}

/** Makes the doors; nothing comes in before `openDoors`. */
export async function buildDoors(
  context: AppContext,
  stack: AsyncDisposableStack,
  parts: {
    readonly terminal: TerminalUse | undefined;
    readonly registry: Registry;
    readonly ready: () => Promise<Readiness>;
  },
): Promise<Doors> {
  const { config, clock, logger, store } = context;
  const { host, port, token } = config.gateway;
  const server =
    token === undefined
      ? undefined
      : stack.use(
          createGatewayServer({ host, port, token, ready: parts.ready, metrics: parts.registry, clock, logger }),
        );
  const channels: Channel[] = [];
  if (config.channels.http && server) {
    const repliesAfter = (seq: number, limit: number) => store.outbox.ofChannel("http", seq, limit);
    channels.push(stack.use(await catalog.http({ routes: server.routes, repliesAfter, clock })));
  }
  const use = parts.terminal;
  const terminal = use && stack.use(await catalog.terminal({ ...use, assistantName: config.assistant.name, clock }));
  if (terminal) channels.push(terminal);
  return { channels, terminal, server };
}

/** Begins to take messages in. */
export async function openDoors({ logger }: AppContext, doors: Doors, accept: AcceptMessage): Promise<void> {
  for (const channel of doors.channels) await channel.start(accept);
  const address = await doors.server?.listen();
  if (address) logger.info({ host: address.host, port: address.port }, "the gateway listens");
}
