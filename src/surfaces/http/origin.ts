import { isIP, isIPv6 } from "node:net";

import type { FastifyRequest } from "fastify";

/** Returns why a request is refused unseen; undefined when allowed. */
export type CheckOrigin = (
  request: FastifyRequest,
) => { readonly status: 400 | 403 | 421; readonly message: string } | undefined;

/**
 * Judges where a request was meant for and where it comes from, before its token. A page of a foreign name that was
 * made to point here (DNS rebinding) is known by its `Host`: that has to be an address, `localhost`, the name that the
 * gateway listens on or one of `names`. Programs send neither `Origin` nor `Sec-Fetch-Site`; a browser does for a
 * foreign page.
 */
export function createOriginCheck(own: { readonly host: string; readonly names: readonly string[] }): CheckOrigin {
  const known = new Set(["localhost", own.host.toLowerCase(), ...own.names]);
  return (request) => {
    const hosts = valuesOf(request, "host");
    const [host = ""] = hosts;
    if (hosts.length !== 1)
      return { status: 400, message: `A request must name exactly one Host, not ${hosts.length}.` };
    const { url: target = "/" } = request.raw;
    if (!target.startsWith("/") && authorityOf(target) !== host.toLowerCase())
      return { status: 421, message: "The request's target names another host than its Host header." };
    const name = nameOf(host);
    if (name === undefined || !(isAddress(name) || known.has(name))) {
      const message =
        "Unknown name in the Host header. Use the host's address, or add the name to gateway.names in config.yaml.";
      return { status: 421, message };
    }
    const origins = valuesOf(request, "origin");
    const sites = valuesOf(request, "sec-fetch-site");
    const isForeign =
      origins.some((origin) => !isOrigin(origin, host)) ||
      sites.some((site) => site !== "same-origin" && site !== "none");
    return isForeign ? { status: 403, message: "Requests from other origins are not allowed." } : undefined;
  };
}

/**
 * More than one Host, which readers would read differently, is refused everywhere; of health checks nothing else is
 * asked.
 */
export function hasSeveralHosts(request: FastifyRequest): boolean {
  return valuesOf(request, "host").length > 1;
}

/** All values of a header as they came: Node keeps only the first of some. */
function valuesOf({ raw }: FastifyRequest, name: string): string[] {
  const { rawHeaders } = raw;
  return rawHeaders.filter((_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}

/** `HTTP://Name.Example:80/path` → `name.example:80`: what a request to a proxy, or a forged one, is for. */
function authorityOf(target: string): string | undefined {
  return /^https?:\/\/([^/?#]*)/i.exec(target)?.[1]?.toLowerCase();
}

/** `Name.Example:80` → `name.example`; undefined for what is no host with, at most, a port. */
function nameOf(host: string): string | undefined {
  const [, name, port] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/i.exec(host) ?? [];
  return Number(port ?? 0) > 65_535 ? undefined : name?.toLowerCase();
}

function isAddress(name: string): boolean {
  return name.startsWith("[") ? isIPv6(name.slice(1, -1)) : isIP(name) === 4;
}

/** Parsed, as browsers leave out the port that a scheme has anyway. */
function isOrigin(origin: string, host: string): boolean {
  if (!/^https?:\/\/[^/?#@\s]+$/i.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, host: named } = new URL(origin);
  return named === new URL(`${protocol}//${host}`).host;
}
