import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { callbackify } from "node:util";

import { AppError } from "../app-error.ts";
import { privateAddressCheck, publicAddressCheck } from "./public-address.ts";

/** All addresses of a host name. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export interface AddressGuardOptions {
  /** `host:port`, written as in a URL, that may have an address which is not of the public internet. */
  readonly allowPrivate: readonly string[];
  /** `host:port` that may be asked although the port is neither 80 nor 443. Those of `allowPrivate` may, too. */
  readonly allowPorts: readonly string[];
  /** No other ones may be asked. */
  readonly onlyListed?: boolean | undefined;
  readonly resolve?: ResolveHost | undefined;
}

const usualPorts: ReadonlySet<number> = new Set([80, 443]);

/**
 * Which addresses may be asked over HTTP. A name is judged by the addresses it has at the moment of the connection, and
 * the connection goes to one of those: a name that changes its mind in between gains nothing.
 */
export class AddressGuard {
  readonly #allowPrivate: ReadonlySet<string>;
  readonly #allowPorts: ReadonlySet<string>;
  readonly #onlyListed: boolean;
  readonly #resolve: ResolveHost;
  readonly #isPublic = publicAddressCheck();
  readonly #mayBePrivate = privateAddressCheck();

  constructor({ allowPrivate, allowPorts, onlyListed = false, resolve = systemResolve }: AddressGuardOptions) {
    this.#allowPrivate = new Set(allowPrivate.map((entry) => entry.toLowerCase()));
    this.#allowPorts = new Set(allowPorts.map((entry) => entry.toLowerCase()));
    this.#onlyListed = onlyListed;
    this.#resolve = resolve;
  }

  /** Throws `address_refused` for what can be told by the URL alone. */
  check(url: URL): void {
    if (url.protocol !== "https:" && url.protocol !== "http:") throw refusal(url, "is neither http nor https");
    if (url.username !== "" || url.password !== "") throw refusal(url, "holds a name or a password");
    const place = placeOf(url);
    const isListed = this.#allowPrivate.has(place) || this.#allowPorts.has(place);
    if (this.#onlyListed && !isListed) throw refusal(url, "is not one of those that are allowed");
    if (!isListed && !usualPorts.has(portOf(url))) throw refusal(url, "has a port other than 80 and 443");
    const address = bareHost(url);
    if (isIP(address) !== 0 && !this.#mayConnect(address, place)) throw privateRefusal(url);
  }

  /**
   * For a connection to this URL that takes all addresses (`autoSelectFamily`). Whoever mixes public and other ones
   * wants us to choose wrongly: then none is connected to.
   */
  lookupFor(url: URL): LookupFunction {
    const place = placeOf(url);
    const lookUp = callbackify(async (host: string): Promise<LookupAddress[]> => {
      const addresses = await this.#resolve(host);
      if (addresses.length === 0) throw new Error(`the name ${host} has no address`);
      if (!addresses.every((address) => this.#mayConnect(address, place))) throw privateRefusal(url);
      return addresses.map((address) => ({ address, family: isIP(address) }));
    });
    return (host, _options, callback) => lookUp(host, callback);
  }

  #mayConnect(address: string, place: string): boolean {
    return this.#allowPrivate.has(place) ? this.#mayBePrivate(address) : this.#isPublic(address);
  }
}

/** `host:port` of a URL; an IPv6 address stands in brackets. */
export function placeOf(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}

function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

async function systemResolve(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true, verbatim: false })).map(({ address }) => address);
}

function privateRefusal(url: URL): AppError {
  return new AppError("address_refused", `${url.origin} leads to an address that is not on the public internet.`, {
    fix: `If it is meant, list "${placeOf(url)}" in allowPrivate.`,
  });
}

function refusal(url: URL, what: string): AppError {
  return new AppError("address_refused", `The address ${url.protocol}//${url.host}/ ${what}.`, {
    fix: "Give an https address without a name and password.",
  });
}
