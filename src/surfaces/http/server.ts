import type { AddressInfo, Socket } from "node:net";

import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Registry } from "prom-client";

import { AppError, toError } from "../../lib/app-error.ts";
import { withoutSchemas } from "../../lib/http/without-schemas.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { addHealthRoutes, healthRoutes, type Readiness } from "./health.ts";
import { createRefusalReport, type HttpRefusal } from "./refusals.ts";
import { createErrorHandler, errorBody } from "./errors.ts";
import { type CheckLogin, createLoginCheck } from "./login.ts";
import { type CheckOrigin, createOriginCheck, hasSeveralHosts } from "./origin.ts";

export interface GatewayOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Names, in lower case, that requests may be for besides addresses, `localhost` and `host`. */
  readonly names?: readonly string[];
  /** Bearer token; without one only health checks and `signedRoutes` are open. */
  readonly token: string | undefined;
  /** Routes whose requests carry a signature, which is judged where they lead. */
  readonly signedRoutes?: readonly string[];
  readonly ready: () => Promise<Readiness>;
  readonly metrics: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * Told about requests that were refused, so that they can be put on record; not of each one under a flood. Must not
   * throw.
   */
  readonly onRefused?: (refusal: HttpRefusal) => void;
}

/**
 * The host's HTTP server. Routes are added before `listen`; all of them ask for the token, those of `health` and those
 * that are signed excepted.
 */
export interface GatewayServer extends AsyncDisposable {
  readonly routes: FastifyInstance;
  /** Resolves with the address in use. Throws `bad_input` when it cannot be had. */
  listen(): Promise<{ readonly host: string; readonly port: number }>;
}

const bodyBytes = 1024 * 1024;
const headerBytes = 16 * 1024;
const headersTimeoutMs = 5_000;
const requestTimeoutMs = 30_000;
/** Longest silence of a connection; longer than the longest poll. */
const silenceTimeoutMs = 90_000;
const keepAliveTimeoutMs = 30_000;
/** More are hung up on without a word, so a burst of as many programs as a machine runs has to fit. */
const connections = 2_048;
/** Time for requests to finish after the server was told to close. */
const closeGraceMs = 1_000;

const securityHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

/** Nothing is open without a token: whoever can reach the port could read every chat. */
export function createGatewayServer(options: GatewayOptions): GatewayServer {
  const routes = buildServer(options);
  return {
    routes,
    listen: async () => {
      try {
        await routes.listen({ host: options.host, port: options.port, backlog: connections });
      } catch (error) {
        const reason = toError(error).message;
        throw new AppError("bad_input", `The gateway cannot listen on ${options.host}:${options.port}: ${reason}.`, {
          cause: error,
          fix: "set gateway.host and gateway.port in config.yaml to a free address of this machine",
        });
      }
      return { host: options.host, port: (routes.server.address() as AddressInfo).port };
    },
    [Symbol.asyncDispose]: async () => {
      const cut = setTimeout(() => routes.server.closeAllConnections(), closeGraceMs);
      await routes.close();
      clearTimeout(cut);
    },
  };
}

function buildServer(options: GatewayOptions): FastifyInstance {
  const onError = createErrorHandler(options.logger);
  const refusals = createRefusalReport(options.clock, (refusal) => options.onRefused?.(refusal));
  const server = fastify({
    logger: false,
    schemaController: withoutSchemas,
    bodyLimit: bodyBytes,
    exposeHeadRoutes: false,
    // What a request says about who forwarded it is not believed.
    trustProxy: false,
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      void reply.headers(securityHeaders);
      void onError(error, request, reply);
    },
    clientErrorHandler: (error, socket) => {
      refusals({ status: 400, method: "", route: "malformed", address: socket.remoteAddress ?? "" });
      refuseMalformed(error, socket);
    },
    requestTimeout: requestTimeoutMs,
    connectionTimeout: silenceTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    http: { headersTimeout: headersTimeoutMs, maxHeaderSize: headerBytes, connectionsCheckingInterval: 1_000 },
  });
  server.server.maxConnections = connections;
  // Only JSON is taken, so that no form of a foreign page can be a request of ours.
  server.removeContentTypeParser("text/plain");
  const { host, names = [] } = options;
  server.addHook("onRequest", createGuard(createOriginCheck({ host, names }), options));
  server.addHook("onResponse", async (request, reply) => {
    const { method, ip } = request;
    const route = request.routeOptions.url ?? "unknown";
    if (reply.statusCode >= 400 && reply.statusCode < 500)
      refusals({ status: reply.statusCode, method, route, address: ip });
  });
  server.setErrorHandler(onError);
  server.setNotFoundHandler(async (_request, reply) => reply.code(404).send(errorBody("not_found", "Not found.")));
  addHealthRoutes(server, options.ready);
  server.get("/metrics", async (_request, reply) => {
    return reply.type(options.metrics.contentType).send(await options.metrics.metrics());
  });
  return server;
}

/** All whose login is refused get the same answer, whatever was wrong and wherever they knocked. */
function createGuard(
  checkOrigin: CheckOrigin,
  { token, clock, signedRoutes = [] }: Pick<GatewayOptions, "token" | "clock" | "signedRoutes">,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const check: CheckLogin = token === undefined ? () => ({ verdict: "refused" }) : createLoginCheck(token, clock);
  const signed = new Set(signedRoutes);
  return async (request, reply) => {
    void reply.headers(securityHeaders);
    const route = request.routeOptions.url ?? "";
    if (healthRoutes.has(route) && !hasSeveralHosts(request)) return;
    const refused = checkOrigin(request);
    if (refused) {
      await reply.code(refused.status).send(errorBody(originCodes[refused.status], refused.message));
      return;
    }
    if (signed.has(route)) return;
    const login = check(request.headers.authorization, request.ip, request.socket);
    if (login.verdict === "refused") {
      void reply.code(401).header("www-authenticate", "Bearer");
      await reply.send(errorBody("unauthorized", "A valid bearer token is required."));
    }
    if (login.verdict === "blocked") {
      void reply.code(429).header("retry-after", login.retryAfterS);
      await reply.send(errorBody("rate_limited", "Too many failed logins from this address."));
    }
  };
}

const originCodes = { 400: "bad_input", 403: "forbidden", 421: "misdirected" } as const;

/** Answers malformed HTTP and hangs up. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code !== "ECONNRESET" && socket.writable) {
    const body = JSON.stringify(errorBody("bad_input", "This is not a well-formed HTTP request."));
    const status = error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? "408 Request Timeout" : "400 Bad Request";
    socket.write(
      `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  }
  socket.destroy();
}
