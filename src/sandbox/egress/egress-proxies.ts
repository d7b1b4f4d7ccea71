import { createHash } from "node:crypto";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { getCACertificates, rootCertificates } from "node:tls";

import type { Logger } from "pino";

import type { GroupNetwork } from "../../domain/sandbox/egress.ts";
import { egressProxy } from "../../protocol/paths.ts";
import { openAuthority } from "./inspection/authority.ts";
import type { Authority } from "./inspection/authority.ts";
import { EgressProxy } from "./egress-proxy.ts";
import { groupResolver } from "./addresses/group-resolver.ts";
import { Inspector } from "./inspection/inspector.ts";
import { defaultEgressLimits, EgressMeter } from "./meter.ts";
import type { EgressLimits } from "./meter.ts";
import type { AddressRules } from "./addresses/pinned-address.ts";
import { privateAddressCheck, publicAddressCheck } from "../../lib/http/public-address.ts";
import { Reflections } from "./secrets/reflections.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { EgressEvent } from "./replies.ts";

/**
 * Settings for programs that embed the host, never from the configuration: they let proxies reach places that are not
 * public.
 */
export interface EgressOverrides {
  readonly addresses?: Partial<AddressRules>;
  readonly trusted?: readonly string[];
  readonly limits?: Partial<EgressLimits>;
}

export interface EgressProxiesOptions {
  /** Folder of the sockets; only the host can enter it. */
  readonly folder: string;
  readonly keyFolder: string;
  readonly networkOf: (group: string) => GroupNetwork;
  readonly publish: Publish<"egress.judged">;
  readonly logger: Logger;
  readonly now: () => number;
  /** DNS servers; see `ResolverOptions`. */
  readonly nameservers?: readonly string[] | undefined;
  readonly overrides?: EgressOverrides | undefined;
  /** Additional certificate authorities; those of NODE_EXTRA_CA_CERTS by default. */
  readonly extraAuthorities?: readonly string[] | undefined;
}

/** Egress of a group's container. */
export interface EgressAccess {
  readonly folder: string;
  readonly certificates: boolean;
}

/** An open proxy, and what it was opened for. */
interface OpenProxy extends AsyncDisposable {
  readonly key: string;
  readonly access: Promise<EgressAccess>;
}

/**
 * The proxies of all groups that have one. Each is opened when the first container needs it, and stays until the end,
 * or until a container is started after the group's network has changed: then another one takes its place, for all of
 * its containers.
 */
export class EgressProxies implements AsyncDisposable {
  readonly #options: EgressProxiesOptions;
  readonly #open = new Map<string, OpenProxy>();
  readonly #isPublic = publicAddressCheck();
  readonly #isPrivate = privateAddressCheck();
  readonly #extra: readonly string[];
  #authority: Promise<Authority> | undefined;

  constructor(options: EgressProxiesOptions) {
    this.#options = options;
    this.#extra = options.extraAuthorities ?? getCACertificates("extra");
  }

  /** Changes with what a container of the group is made with. */
  kindOf(group: string): string {
    const { allow, secrets } = this.#options.networkOf(group);
    if (allow.length === 0) return "none";
    const kind = secrets.length > 0 || this.#extra.length > 0 ? "proxy and certificates" : "proxy";
    return `${kind} ${this.#keyOf(group)}`;
  }

  /** Undefined for a group that may not go anywhere. */
  async open(group: string): Promise<EgressAccess | undefined> {
    const known = this.#open.get(group);
    const key = this.#keyOf(group);
    if (known?.key === key) return known.access;
    this.#open.delete(group);
    const network = this.#options.networkOf(group);
    if (network.allow.length === 0) {
      await known?.[Symbol.asyncDispose]();
      return undefined;
    }
    const opened = this.#openNext(group, { key, network, before: known });
    this.#open.set(group, opened);
    opened.access.catch(() => {
      if (this.#open.get(group) === opened) this.#open.delete(group);
      return opened[Symbol.asyncDispose]();
    });
    return opened.access;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open.values()].map((proxy) => proxy[Symbol.asyncDispose]()));
  }

  #keyOf(group: string): string {
    const { networkOf, nameservers } = this.#options;
    return createHash("sha256")
      .update(JSON.stringify([networkOf(group), nameservers]))
      .digest("hex");
  }

  /** Both have the same socket, so the one before is closed first; that cuts its connections. */
  #openNext(
    group: string,
    {
      key,
      network,
      before,
    }: { readonly key: string; readonly network: GroupNetwork; readonly before?: OpenProxy | undefined },
  ): OpenProxy {
    const owned = new AsyncDisposableStack();
    const open = async (): Promise<EgressAccess> => {
      await before?.[Symbol.asyncDispose]();
      return this.#make(group, network, owned);
    };
    const access = open();
    return {
      key,
      access,
      [Symbol.asyncDispose]: async () => {
        await access.catch(() => undefined);
        await owned.disposeAsync();
      },
    };
  }

  async #make(group: string, network: GroupNetwork, owned: AsyncDisposableStack): Promise<EgressAccess> {
    const { publish, logger, now, overrides } = this.#options;
    const folder = join(this.#options.folder, group);
    await mkdir(folder, { recursive: true, mode: 0o755 });
    await chmod(folder, 0o755);
    const limits = { ...defaultEgressLimits, ...overrides?.limits };
    const meter = new EgressMeter(limits, { now, elapsed: () => performance.now() });
    const addresses = { ...this.#rulesFor(network), ...overrides?.addresses };
    const report = (data: EgressEvent): Promise<void> =>
      publish({ type: "egress.judged", group, actor: "agent", data });
    const reflections = new Reflections(limits.maskedAnswers);
    const inspector = await this.#inspect(network, { meter, addresses, reflections, report });
    if (inspector) owned.use(inspector);
    const certificates = inspector !== undefined || this.#extra.length > 0;
    await this.#placeCertificates(folder, { certificates, ours: inspector !== undefined });
    const proxy = await EgressProxy.open(
      {
        group,
        limits,
        meter,
        addresses,
        reflections,
        report,
        logger,
        allow: new Set(network.allow),
        inspector: (destination) => inspector?.open(destination),
        elapsed: () => performance.now(),
      },
      join(folder, egressProxy.socketName),
    );
    owned.use(proxy);
    return { folder, certificates };
  }

  #rulesFor({ allowPrivate }: GroupNetwork): AddressRules {
    const vouchedFor = new Set(allowPrivate);
    return {
      resolve: groupResolver({ nameservers: this.#options.nameservers, elapsed: () => performance.now() }),
      mayConnect: (address, { host, port }) =>
        this.#isPublic(address) || (vouchedFor.has(`${host}:${port}`) && this.#isPrivate(address)),
    };
  }

  async #inspect(
    network: GroupNetwork,
    options: {
      readonly meter: EgressMeter;
      readonly addresses: AddressRules;
      readonly reflections: Reflections;
      readonly report: (event: EgressEvent) => Promise<void>;
    },
  ): Promise<Inspector | undefined> {
    if (network.secrets.length === 0) return undefined;
    const isSafe = (host: string): boolean => !network.reflects.includes(host);
    const secrets = network.secrets.map((secret) => ({ ...secret, hosts: secret.hosts.filter(isSafe) }));
    const { now, overrides } = this.#options;
    const authority = await this.#openAuthority();
    return new Inspector({ ...options, secrets, authority, trusted: overrides?.trusted, now });
  }

  async #openAuthority(): Promise<Authority> {
    this.#authority ??= openAuthority(this.#options.keyFolder, this.#options.now());
    return this.#authority;
  }

  /** Programs take one file for all: so it holds those that everybody trusts as well. Renamed into place. */
  async #placeCertificates(folder: string, wanted: { certificates: boolean; ours: boolean }): Promise<void> {
    const path = join(folder, egressProxy.certificatesName);
    if (!wanted.certificates) {
      await rm(path, { force: true });
      return;
    }
    const ours = wanted.ours ? [(await this.#openAuthority()).certificate] : [];
    const everybody = this.#options.overrides?.trusted ?? rootCertificates;
    const all = [...ours, ...this.#extra, ...everybody];
    await writeFile(`${path}.new`, [...new Set(all)].join("\n"), { mode: 0o644 });
    await chmod(`${path}.new`, 0o644);
    await rename(`${path}.new`, path);
  }
}
