import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";

import { addressActor } from "../../domain/people/actor.ts";
import { addWebhookRoutes, webhookRoute, type WebhookReceiver } from "../../surfaces/http/webhook-routes.ts";
import type { Readiness } from "../../surfaces/http/health.ts";
import type { HttpRefusal } from "../../surfaces/http/refusals.ts";
import { createGatewayServer, type GatewayServer } from "../../surfaces/http/server.ts";
import { toError } from "../../lib/app-error.ts";
import type { AppContext } from "../context.ts";

export interface HttpEntranceOptions {
  readonly registry: Registry;
  readonly ready: () => Promise<Readiness>;
  /** Undefined while the host is starting. */
  readonly webhooks: () => WebhookReceiver | undefined;
}

/** The way in over HTTP. */
export interface HttpEntrance {
  /** For those who come with the token; undefined where there is none. */
  readonly routes: FastifyInstance | undefined;
  /** Takes the port, if anybody may come. */
  listen(): Promise<void>;
  /** Where it listens, as seen from this machine; undefined: it does not. */
  url(): string | undefined;
}

/**
 * The gateway listens where there is a token, and without one as soon as there are webhooks, which then are all that it
 * answers besides health checks.
 */
export function createHttpEntrance(
  context: AppContext,
  stack: AsyncDisposableStack,
  parts: HttpEntranceOptions,
): HttpEntrance {
  const { config, live, logger } = context;
  const late = stack.use(new AsyncDisposableStack());
  let url: string | undefined;
  let server: GatewayServer | undefined;
  const open = (): GatewayServer => (server = late.use(createServer(context, parts)));
  const listen = async (): Promise<void> => {
    if (!server) return;
    const address = await server.listen();
    url = urlOf(address);
    logger.info({ host: address.host, port: address.port }, "the gateway listens");
  };
  const isWanted = (): boolean => config.gateway.token !== undefined || Object.keys(config.hooks).length > 0;
  if (isWanted()) open();
  live.onChange(() => {
    if (server || late.disposed || !isWanted()) return;
    open();
    listen().catch((error: unknown) => logger.error({ err: toError(error) }, "webhooks cannot be called"));
  });
  const routes = config.gateway.token === undefined ? undefined : server?.routes;
  return { routes, listen, url: () => url };
}

function createServer(context: AppContext, { registry, ready, webhooks }: HttpEntranceOptions): GatewayServer {
  const { config, clock, logger } = context;
  const { host, port, token, names } = config.gateway;
  const server = createGatewayServer({
    host,
    port,
    names,
    token,
    signedRoutes: [webhookRoute],
    ready,
    metrics: registry,
    clock,
    logger,
    onRefused: (refusal) => recordRefusal(context, refusal),
  });
  addWebhookRoutes(server.routes, webhooks);
  return server;
}

/** An address for all networks is none that can be asked. */
function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  const own = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${own.includes(":") ? `[${own}]` : own}:${port}`;
}

function recordRefusal({ publish, logger }: AppContext, refusal: HttpRefusal): void {
  publish({ type: "http.refused", actor: addressActor(refusal.address), data: { ...refusal } }).catch(
    (error: unknown) => logger.error({ error }, "a refused request could not be recorded"),
  );
}
