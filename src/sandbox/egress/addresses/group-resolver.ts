import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";

import PQueue from "p-queue";

import { AppError } from "../../../lib/app-error.ts";
import { addressesInHosts, ChangingFile } from "./hosts-file.ts";
import type { Resolve } from "./pinned-address.ts";

/** Names that are looked up at once, and that wait. */
const atOnce = 4;
const maxWaiting = 64;
/** A name that has just failed is not asked for again. */
const failureMs = 10_000;
const maxAddresses = 32;
/** Timeout of one question to one server; there is one retry. */
const timeoutMs = 2_000;

export interface ResolverOptions {
  /** Name servers as `address`, `address:port` or `[address]:port`; the system's by default. */
  readonly nameservers?: readonly string[] | undefined;
  readonly hostsFile?: string | undefined;
  /** Milliseconds on a clock that only runs forward. */
  readonly elapsed: () => number;
}

/**
 * Resolves one group's names: `/etc/hosts`, then DNS. Groups share neither queue nor cache, so that no group can delay
 * another or learn its names. Bypasses the system's resolver, which blocks one of few threads while it waits.
 */
export function groupResolver(options: ResolverOptions): Resolve {
  const resolver = new GroupResolver(options);
  return async (host) => resolver.resolve(host);
}

class GroupResolver {
  readonly #options: ResolverOptions;
  readonly #queue = new PQueue({ concurrency: atOnce });
  readonly #asked = new Map<string, Promise<readonly string[]>>();
  readonly #failed = new Map<string, { readonly until: number; readonly error: unknown }>();
  readonly #hosts: ChangingFile;
  readonly #system = new ChangingFile("/etc/resolv.conf");
  #servers: string | undefined;
  #dns = new Resolver();

  constructor(options: ResolverOptions) {
    this.#options = options;
    this.#hosts = new ChangingFile(options.hostsFile ?? "/etc/hosts");
  }

  async resolve(host: string): Promise<readonly string[]> {
    const failure = this.#failed.get(host);
    if (failure && this.#options.elapsed() < failure.until) throw failure.error;
    this.#failed.delete(host);
    const waiting = this.#asked.get(host);
    if (waiting) return waiting;
    if (this.#queue.size >= maxWaiting) {
      throw new AppError(
        "rate_limited",
        `${maxWaiting} names of this group are already waiting to be looked up; try again later`,
      );
    }
    const asked = this.#queue.add(async () => this.#ask(host)).finally(() => this.#asked.delete(host));
    this.#asked.set(host, asked);
    return asked;
  }

  async #ask(host: string): Promise<readonly string[]> {
    try {
      return await this.#lookUp(host);
    } catch (error) {
      this.#failed.set(host, { until: this.#options.elapsed() + failureMs, error });
      throw error;
    }
  }

  async #lookUp(host: string): Promise<readonly string[]> {
    const written = addressesInHosts(await this.#hosts.read(), host);
    if (written.length > 0) return usableFirst(written);
    // RFC 6761: these names never leave the machine.
    if (host.endsWith(".localhost")) return ["127.0.0.1", "::1"];
    const dns = await this.#openDns();
    const answers = await Promise.allSettled([dns.resolve4(host), dns.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length > 0) return usableFirst(addresses.slice(0, maxAddresses));
    throw new Error(`no server has an address for ${host}`);
  }

  /**
   * Made anew when the system's servers are others than before: after a change of the network, or once there is one.
   */
  async #openDns(): Promise<Resolver> {
    const { nameservers } = this.#options;
    const servers = nameservers?.join() ?? (await this.#system.read());
    if (servers === this.#servers) return this.#dns;
    this.#dns = new Resolver({ timeout: timeoutMs, tries: 2, maxTimeout: timeoutMs });
    if (nameservers) this.#dns.setServers(nameservers);
    this.#servers = servers;
    return this.#dns;
  }
}

/** The first one is connected to: of the family that this machine has a network for. */
function usableFirst(addresses: readonly string[]): readonly string[] {
  const interfaces = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  const hasIpv4 = interfaces.some(({ family, internal }) => family === "IPv4" && !internal);
  const hasIpv6 = interfaces.some(({ family, internal }) => family === "IPv6" && !internal);
  const first = hasIpv6 && !hasIpv4 ? 6 : 4;
  return addresses.toSorted((one, other) => Number(isIP(other) === first) - Number(isIP(one) === first));
}
