import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

import type { Logger } from "pino";

import type { Destination } from "../../domain/sandbox/egress.ts";
import { maxHelloBytes, readClientHello } from "./client-hello.ts";
import type { HelloVerdict } from "./client-hello.ts";
import type { EgressLimits, EgressMeter } from "./meter.ts";
import { pinAddress } from "./addresses/pinned-address.ts";
import type { AddressRules } from "./addresses/pinned-address.ts";
import { serverOf } from "../servers/server-owner.ts";
import { readFirst } from "./read-first.ts";
import { reflectsRefusal } from "./secrets/reflections.ts";
import type { Reflections } from "./secrets/reflections.ts";
import { refuse } from "./replies.ts";
import type { EgressEvent, Refusal } from "./replies.ts";
import { runTunnel } from "./tunnel.ts";

export interface PassageOptions {
  readonly group: string;
  /** Destinations as `host:port`. */
  readonly allow: ReadonlySet<string>;
  readonly limits: EgressLimits;
  readonly meter: EgressMeter;
  readonly addresses: AddressRules;
  readonly reflections: Reflections;
  /** For destinations with a secret: what speaks for them instead of a connection of the agent's own. */
  readonly inspector: (destination: Destination) => Duplex | undefined;
  /** Resolves when it is on record; a tunnel that cannot be put on record is not opened. */
  readonly report: (event: EgressEvent) => Promise<void>;
  readonly logger: Logger;
  /** Milliseconds on a clock that only runs forward. */
  readonly elapsed: () => number;
}

/** One request to get through: judged, connected, looked at, and carried until its end. */
export class Passage {
  readonly #options: PassageOptions;
  readonly #destination: Destination;
  readonly #name: string;

  constructor(options: PassageOptions, destination: Destination) {
    this.#options = options;
    this.#destination = destination;
    this.#name = `${destination.host}:${destination.port}`;
  }

  async run(socket: Socket, signal: AbortSignal): Promise<void> {
    const { allow, meter, reflections, report } = this.#options;
    if (!allow.has(this.#name)) {
      await this.#refuse(socket, { status: 403, rule: "allowlist", detail: this.#notAllowed() });
      return;
    }
    if (reflections.isClosed(this.#name)) {
      await this.#refuse(socket, reflectsRefusal(this.#name));
      return;
    }
    const place = meter.enter();
    if (typeof place === "string") {
      const detail = `this group has used up its limit (${place}); ${place === "tunnels" ? "close other connections first" : "it resets at 00:00 UTC"}`;
      await this.#refuse(socket, { status: 429, rule: place, detail });
      return;
    }
    await using held = new AsyncDisposableStack();
    held.use(place);
    const way = await this.#find(signal);
    if ("rule" in way) {
      await this.#refuse(socket, way);
      return;
    }
    const { to } = way;
    const isInspected = typeof to !== "string";
    if (isInspected) held.defer(() => void to.destroy());
    const rule = isInspected ? `${this.#name} (inspected)` : this.#name;
    const address = isInspected ? undefined : to;
    await report({ verdict: "allowed", rule, destination: this.#destination, address });
    const upstream = isInspected ? to : await this.#connect(to, signal);
    if (upstream === undefined) {
      const detail = `no connection to ${this.#name} could be made`;
      await this.#refuse(socket, { status: 502, rule: "connect", detail });
      return;
    }
    held.defer(() => void upstream.destroy());
    await this.#carry(socket, upstream, signal);
  }

  #notAllowed(): string {
    const { group } = this.#options;
    const { kind, server } = serverOf(group) ?? {};
    if (kind === "plugin")
      return `${this.#name} is not among the hosts that the plugin ${server} names in its package.json`;
    const [whose, setting] =
      kind === "mcp"
        ? ["MCP server", `mcp.servers.${server}.network.allow`]
        : ["group", `groups.${group}.network.allow (or sandbox.network.allow)`];
    return `${this.#name} is not in the allowlist of this ${whose}; the operator can add "${this.#name}" to ${setting} in config.yaml`;
  }

  async #refuse(socket: Socket, refusal: Refusal): Promise<void> {
    await refuse(socket, this.#options, { ...refusal, destination: this.#destination });
  }

  /** The address to connect to, or what speaks for the destination. */
  async #find(signal: AbortSignal): Promise<{ readonly to: string | Duplex } | Refusal> {
    const { inspector, addresses, limits } = this.#options;
    const inspected = inspector(this.#destination);
    if (inspected) return { to: inspected };
    const patience = AbortSignal.any([signal, AbortSignal.timeout(limits.connectMs)]);
    const pinned = await pinAddress(this.#destination, addresses, patience);
    if (pinned.ok) return { to: pinned.address };
    return { status: pinned.rule === "dns" ? 502 : 403, rule: pinned.rule, detail: pinned.detail };
  }

  async #connect(address: string, signal: AbortSignal): Promise<Socket | undefined> {
    const stream = connect({ host: address, port: this.#destination.port, allowHalfOpen: true });
    stream.on("error", () => stream.destroy());
    try {
      const patience = AbortSignal.timeout(this.#options.limits.connectMs);
      await once(stream, "connect", { signal: AbortSignal.any([signal, patience]) });
      return stream;
    } catch {
      stream.destroy();
      return undefined;
    }
  }

  /** Nothing that the client sends goes further before it has said, in its ClientHello, that it wants this host. */
  async #carry(client: Socket, upstream: Duplex, signal: AbortSignal): Promise<void> {
    const { limits, meter, elapsed } = this.#options;
    const began = elapsed();
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    const hello = await readFirst(client, decided, { maxBytes: maxHelloBytes, timeoutMs: limits.handshakeMs });
    const fault = hello.kind === "read" ? this.#helloFault(hello.result) : hello.kind;
    if (hello.kind !== "read" || fault !== undefined) {
      await this.#close(fault ?? hello.kind, { bytesUp: 0, bytesDown: 0, ms: elapsed() - began }, fault !== "closed");
      return;
    }
    client.unshift(hello.bytes);
    const { end, ...bytes } = await runTunnel({ client, upstream, limits, meter, signal });
    await this.#close(end, { ...bytes, ms: elapsed() - began });
  }

  #helloFault(hello: HelloVerdict): string | undefined {
    if (hello.kind === "refused") return hello.rule;
    return hello.kind === "named" && hello.host === this.#destination.host ? undefined : "sni";
  }

  async #close(
    rule: string,
    count: { bytesUp: number; bytesDown: number; ms: number },
    refused = false,
  ): Promise<void> {
    const { report } = this.#options;
    const ms = Math.round(count.ms);
    await report({ verdict: refused ? "refused" : "closed", rule, destination: this.#destination, ...count, ms });
  }
}

function decided(bytes: Buffer): HelloVerdict | undefined {
  const verdict = readClientHello(bytes);
  return verdict.kind === "incomplete" ? undefined : verdict;
}
