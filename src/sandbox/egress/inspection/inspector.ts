import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { duplexPair } from "node:stream";
import { createSecureContext, TLSSocket } from "node:tls";
import type { SecureContext } from "node:tls";

import type { Destination, InjectedSecret } from "../../../domain/sandbox/egress.ts";
import type { SecretFinder } from "../../../lib/secrets/secret-finder.ts";
import type { Authority } from "./authority.ts";
import { forward } from "./forward.ts";
import { findInnerRefusal, say } from "./inner-refusals.ts";
import type { InnerRefusal } from "./inner-refusals.ts";
import { defaultEgressLimits } from "../meter.ts";
import type { EgressMeter } from "../meter.ts";
import { pinAddress } from "../addresses/pinned-address.ts";
import type { AddressRules } from "../addresses/pinned-address.ts";
import { reflectsRefusal } from "../secrets/reflections.ts";
import type { Reflections } from "../secrets/reflections.ts";
import type { EgressEvent } from "../replies.ts";
import { isFor } from "../secrets/secret-binding.ts";
import { findInAnswers } from "../secrets/secret-mask.ts";

export interface InspectorOptions {
  readonly secrets: readonly InjectedSecret[];
  readonly authority: Authority;
  readonly addresses: AddressRules;
  /** Certificate authorities for the upstream; Node's by default. */
  readonly trusted?: readonly string[] | undefined;
  readonly meter: EgressMeter;
  readonly reflections: Reflections;
  readonly report: (event: EgressEvent) => Promise<void>;
  readonly now: () => number;
}

/** Secrets of one destination, and their finder for answers. */
interface KnownSecrets {
  readonly secrets: readonly InjectedSecret[];
  readonly finder: SecretFinder;
}

const { connectMs } = defaultEgressLimits;
const leafRenewMs = 86_400_000;

/**
 * Speaks TLS with a group's agent in the place of hosts that have secrets, reads each HTTP/1.1 request, and makes a new
 * one with the secret in it to the real host, whose certificate is verified. Nothing of the agent's framing gets
 * through.
 */
export class Inspector implements AsyncDisposable {
  readonly #options: InspectorOptions;
  readonly #server: Server;
  readonly #contexts = new Map<string, { readonly context: SecureContext; readonly madeAt: number }>();
  readonly #destinations = new WeakMap<object, Destination>();
  readonly #connections = new Set<TLSSocket>();
  readonly #answering = new WeakMap<object, ServerResponse>();
  readonly #secrets = new Map<string, KnownSecrets>();

  constructor(options: InspectorOptions) {
    this.#options = options;
    this.#server = createServer({ maxHeaderSize: 16 * 1024, insecureHTTPParser: false }, (incoming, response) => {
      this.#answer(incoming, response).catch(() => incoming.socket.destroy());
    });
    this.#server.on("clientError", (_error, socket) => socket.destroy());
  }

  /** A connection to this destination as the agent gets it; undefined when there is no secret for it. */
  open(destination: Destination): Duplex | undefined {
    if (this.#known(destination).secrets.length === 0) return undefined;
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

  #known({ host, port }: Destination): KnownSecrets {
    const name = `${host}:${port}`;
    const known = this.#secrets.get(name);
    if (known) return known;
    const secrets = this.#options.secrets.filter((secret) => secret.hosts.includes(name));
    const made = { secrets, finder: findInAnswers(secrets.map((secret) => secret.value)) };
    this.#secrets.set(name, made);
    return made;
  }

  #contextFor(host: string): SecureContext {
    const now = this.#options.now();
    const known = this.#contexts.get(host);
    if (known && now - known.madeAt < leafRenewMs) return known.context;
    const { key, certificate } = this.#options.authority.issue(host, now);
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
      await this.#options.report({ verdict: "refused", rule: "pipelining", destination });
      return;
    }
    this.#answering.set(incoming.socket, response);
    const refusal = findInnerRefusal(incoming, destination) ?? this.#closed(destination);
    if (refusal) {
      await this.#options.report({ verdict: "refused", rule: refusal.rule, destination });
      say(response, refusal);
      return;
    }
    if (this.#options.meter.countRequest() !== "within") {
      say(response, tooMany);
      return;
    }
    const pinned = await pinAddress(destination, this.#options.addresses, AbortSignal.timeout(connectMs));
    if (!pinned.ok) {
      await this.#options.report({ verdict: "failed", rule: pinned.rule, destination });
      say(response, { status: 502, rule: pinned.rule, detail: pinned.detail });
      return;
    }
    const { address } = pinned;
    const { secrets: known, finder } = this.#known(destination);
    const { method = "", url: target = "", rawHeaders } = incoming;
    const added = known.filter((secret) => isFor(secret, { method, target, rawHeaders }));
    const rule = added.length === 0 ? "no secret" : `secret ${added.map((secret) => secret.name).join(", ")}`;
    await this.#options.report({ verdict: "allowed", rule, destination, address });
    const { reflections, trusted, report } = this.#options;
    const secrets = { known, added };
    await forward({ incoming, response, destination, address, secrets, finder, reflections, trusted, report });
  }

  #closed({ host, port }: Destination): InnerRefusal | undefined {
    return this.#options.reflections.isClosed(`${host}:${port}`) ? reflectsRefusal(`${host}:${port}`) : undefined;
  }
}

const tooMany: InnerRefusal = {
  status: 429,
  rule: "requests-per-minute",
  detail: "too many requests; try again in a minute",
};
