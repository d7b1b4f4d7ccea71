import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { duplexPair } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createSecureContext, TLSSocket } from "node:tls";
import type { SecureContext } from "node:tls";

import type { Destination, InjectedSecret } from "../domain/egress.ts";
import type { Authority } from "./authority.ts";
import { requestHeaders, responseHeaders } from "./inspected-headers.ts";
import { defaultEgressLimits } from "./meter.ts";
import type { EgressMeter } from "./meter.ts";
import { pinAddress } from "./pinned-address.ts";
import type { AddressRules } from "./pinned-address.ts";
import type { EgressEvent } from "./replies.ts";
import { SecretMask } from "./secret-mask.ts";

export interface InspectorParts {
  readonly secrets: readonly InjectedSecret[];
  readonly authority: Authority;
  readonly addresses: AddressRules;
  /** Certificates that may have signed the upstream's; absent: those that Node trusts. */
  readonly trusted?: readonly string[] | undefined;
  readonly meter: EgressMeter;
  readonly report: (event: EgressEvent) => Promise<void>;
  readonly now: () => number;
}

const { connectMs, idleMs } = defaultEgressLimits;
const leafRenewMs = 86_400_000;

/**
 * Speaks TLS with a group's agent in the place of hosts that have secrets, reads each HTTP/1.1 request, and makes a new one
 * with the secret in it to the real host, whose certificate is verified. Nothing of the agent's framing gets through.
 */
export class Inspector implements AsyncDisposable {
  readonly #parts: InspectorParts;
  readonly #server: Server;
  readonly #contexts = new Map<string, { readonly context: SecureContext; readonly madeAt: number }>();
  readonly #destinations = new WeakMap<object, Destination>();
  readonly #connections = new Set<TLSSocket>();
  readonly #answering = new WeakMap<object, ServerResponse>();

  constructor(parts: InspectorParts) {
    this.#parts = parts;
    this.#server = createServer({ maxHeaderSize: 16 * 1024, insecureHTTPParser: false }, (incoming, response) => {
      this.#answer(incoming, response).catch(() => incoming.socket.destroy());
    });
    this.#server.on("clientError", (_error, socket) => socket.destroy());
  }

  /** A connection to this destination as the agent gets it; undefined when there is no secret for it. */
  open(destination: Destination): Duplex | undefined {
    if (this.#secretsFor(destination).length === 0) return undefined;
    const [agentSide, ownSide] = duplexPair();
    const secureContext = this.#contextFor(destination.host);
    const secured = new TLSSocket(ownSide, { isServer: true, secureContext, ALPNProtocols: ["http/1.1"] });
    this.#destinations.set(secured, destination);
    this.#connections.add(secured);
    const end = (): void => {
      this.#connections.delete(secured);
      secured.destroy();
      ownSide.destroy();
      agentSide.destroy();
    };
    secured.on("error", end).on("close", end);
    agentSide.on("error", end).on("close", end);
    this.#server.emit("connection", secured);
    return agentSide;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const connection of this.#connections) connection.destroy();
    this.#server.closeAllConnections();
    await Promise.resolve();
  }

  #secretsFor({ host, port }: Destination): readonly InjectedSecret[] {
    return this.#parts.secrets.filter((secret) => secret.hosts.includes(`${host}:${port}`));
  }

  #contextFor(host: string): SecureContext {
    const now = this.#parts.now();
    const known = this.#contexts.get(host);
    if (known && now - known.madeAt < leafRenewMs) return known.context;
    const { key, certificate } = this.#parts.authority.issue(host, now);
    const context = createSecureContext({ key, cert: certificate, minVersion: "TLSv1.2" });
    this.#contexts.set(host, { context, madeAt: now });
    return context;
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const destination = this.#destinations.get(incoming.socket);
    if (!destination) throw new Error("a request came from a connection that was not made here");
    // One at a time: otherwise a single tunnel is as many connections upstream as it has requests.
    if (this.#answering.get(incoming.socket)?.writableEnded === false) {
      incoming.socket.destroy();
      await this.#parts.report({ verdict: "refused", rule: "pipelining", destination });
      return;
    }
    this.#answering.set(incoming.socket, response);
    const refusal = refusalOf(incoming, destination);
    if (refusal) {
      await this.#parts.report({ verdict: "refused", rule: refusal.rule, destination });
      say(response, refusal.status, refusal.detail);
      return;
    }
    if (this.#parts.meter.countRequest() !== "within") {
      say(response, 429, "too many requests in this minute; try again in the next one");
      return;
    }
    const pinned = await pinAddress(destination, this.#parts.addresses, AbortSignal.timeout(connectMs));
    if (!pinned.ok) {
      await this.#parts.report({ verdict: "failed", rule: pinned.rule, destination });
      say(response, 502, pinned.detail);
      return;
    }
    const secrets = this.#secretsFor(destination);
    const rule = `secret ${secrets.map((secret) => secret.name).join(", ")}`;
    await this.#parts.report({ verdict: "allowed", rule, destination, address: pinned.address });
    await this.#forward({ incoming, response, destination, secrets, address: pinned.address });
  }

  async #forward(exchange: Exchange): Promise<void> {
    const { incoming, response, destination, secrets, address } = exchange;
    const { host, port } = destination;
    const { trusted } = this.#parts;
    const family = address.includes(":") ? 6 : 4;
    const outgoing = httpsRequest({
      host,
      port,
      servername: host,
      method: incoming.method,
      path: incoming.url,
      headers: requestHeaders(incoming, destination, secrets),
      setDefaultHeaders: false,
      agent: false,
      rejectUnauthorized: true,
      minVersion: "TLSv1.2",
      ...(trusted && { ca: [...trusted] }),
      // Not looked up again: between two answers of a resolver lies an attack.
      lookup: (_host, options, done) => (options.all ? done(null, [{ address, family }]) : done(null, address, family)),
      timeout: idleMs,
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("timeout")));
    response.on("close", () => outgoing.destroy());
    const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    outgoing
      .on("response", resolve)
      .on("error", reject)
      .on("close", () => reject(new Error("closed")));
    const sent = pipeline(incoming, outgoing).catch(() => undefined);
    try {
      await this.#passBack(await answered, exchange);
      await sent;
    } catch {
      outgoing.destroy();
      if (response.headersSent) response.destroy();
      else await this.#failed(exchange);
    }
  }

  async #passBack(answer: IncomingMessage, { response, destination, secrets }: Exchange): Promise<void> {
    const mask = new SecretMask(secrets.map((secret) => secret.value));
    const encoding = answer.headers["content-encoding"] ?? "identity";
    if (encoding !== "identity") {
      answer.destroy();
      await this.#parts.report({ verdict: "refused", rule: "content-encoding", destination });
      say(response, 502, `the answer is compressed (${mask.text(encoding)}) although that was not asked for`);
      return;
    }
    response.sendDate = false;
    response.writeHead(answer.statusCode ?? 502, mask.text(answer.statusMessage ?? ""), responseHeaders(answer, mask));
    try {
      await pipeline(answer, mask.stream(), response);
    } finally {
      if (mask.hits > 0) await this.#parts.report({ verdict: "masked", rule: "secret-in-answer", destination });
    }
  }

  async #failed({ response, destination }: Exchange): Promise<void> {
    await this.#parts.report({ verdict: "failed", rule: "upstream", destination });
    say(response, 502, `${destination.host}:${destination.port} could not be asked, or its certificate is not valid`);
  }
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly destination: Destination;
  readonly secrets: readonly InjectedSecret[];
  readonly address: string;
}

interface InnerRefusal {
  readonly status: number;
  readonly rule: string;
  readonly detail: string;
}

function refusalOf(incoming: IncomingMessage, { host, port }: Destination): InnerRefusal | undefined {
  const { method = "", url = "", headers } = incoming;
  if (["TRACE", "TRACK", "CONNECT"].includes(method)) {
    return { status: 405, rule: "method", detail: `${method} would show the secret that is added` };
  }
  if (!url.startsWith("/") && url !== "*") {
    return { status: 400, rule: "grammar", detail: "the target must be a path" };
  }
  if (headers.host !== host && headers.host !== `${host}:${port}`) {
    return { status: 421, rule: "host", detail: `the Host header must be ${host}` };
  }
  return undefined;
}

/** The connection is closed after it: what is left of a request that was refused is nothing to read on from. */
function say(response: ServerResponse, status: number, detail: string): void {
  const body = `crabpot: ${detail}.\n`;
  const headers = { "content-type": "text/plain; charset=utf-8", connection: "close" };
  response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
}
