import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Registry } from "prom-client";

import { addWebhookRoutes, type WebhookReceiver, webhookRoute } from "./webhook-routes.ts";
import type { LiveConfig } from "../../config/changes/live-config.ts";
import type { Publish } from "../../domain/events/event.ts";
import { addressActor } from "../../domain/people/actor.ts";
import { toError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { OperationNeeds } from "../operations.ts";
import { addRestRoutes } from "./operation-routes.ts";
import type { Readiness } from "./health.ts";
import type { HttpRefusal } from "./refusals.ts";
import { createGatewayServer, type GatewayServer } from "./server.ts";

interface GatewayParts {
  readonly live: LiveConfig;
  readonly registry: Registry;
  readonly ready: () => Promise<Readiness>;
  readonly version: string;
  readonly publish: Publish;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The way in over HTTP. It listens where there is a token, and without one as soon as there are webhooks, which then
 * are all that it answers besides health checks.
 */
export class Gateway implements AsyncDisposable {
  readonly #parts: GatewayParts;
  readonly #stack = new AsyncDisposableStack();
  #server: GatewayServer | undefined;
  #url: string | undefined;
  #operations: OperationNeeds | undefined;
  #webhooks: WebhookReceiver | undefined;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    if (this.#isWanted()) this.#open();
    parts.live.onChange(() => {
      if (this.#server || this.#stack.disposed || !this.#isWanted()) return;
      this.#open();
      this.listen().catch((error: unknown) => parts.logger.error({ err: toError(error) }, "webhooks cannot be called"));
    });
  }

  /** The routes for those who come with the token; undefined without a token. */
  get routes(): FastifyInstance | undefined {
    return this.#settings.token === undefined ? undefined : this.#server?.routes;
  }

  /** The services of operations; undefined while the host is starting. */
  get operations(): OperationNeeds | undefined {
    return this.#operations;
  }

  /** The address as seen from this machine; undefined when nothing listens. */
  url(): string | undefined {
    return this.#url;
  }

  /** Lets operations and webhooks be called from now on; until then their routes answer that the host is starting. */
  serve(operations: OperationNeeds, webhooks: WebhookReceiver): void {
    this.#operations = operations;
    this.#webhooks = webhooks;
  }

  /** Takes the port, if anybody may come. */
  async listen(): Promise<void> {
    if (!this.#server) return;
    const address = await this.#server.listen();
    this.#url = urlOf(address);
    this.#parts.logger.info({ host: address.host, port: address.port }, "the gateway listens");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  get #settings(): LiveConfig["current"]["gateway"] {
    return this.#parts.live.current.gateway;
  }

  #isWanted(): boolean {
    return this.#settings.token !== undefined || Object.keys(this.#parts.live.current.hooks).length > 0;
  }

  #open(): void {
    const { registry, ready, clock, logger } = this.#parts;
    const { host, port, token, names } = this.#settings;
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
      onRefused: (refusal) => this.#record(refusal),
    });
    addWebhookRoutes(server.routes, () => this.#webhooks);
    if (token !== undefined) this.#addRoutes(server.routes);
    this.#server = this.#stack.use(server);
  }

  #addRoutes(routes: FastifyInstance): void {
    const { version, publish, logger } = this.#parts;
    const onFault = (error: Error): void => logger.error({ err: error }, "a stream of events has failed");
    addRestRoutes(routes, { needs: () => this.#operations, publish, version, streams: { onFault } });
  }

  #record(refusal: HttpRefusal): void {
    const { publish, logger } = this.#parts;
    publish({ type: "http.refused", actor: addressActor(refusal.address), data: { ...refusal } }).catch(
      (error: unknown) => logger.error({ error }, "a refused request could not be recorded"),
    );
  }
}

/** Returns an address that can be connected to: one for all networks cannot. */
function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  const own = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${own.includes(":") ? `[${own}]` : own}:${port}`;
}
