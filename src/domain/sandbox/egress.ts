/** A host name and a port; nothing else can be allowed, and nothing else can be asked for. */
export interface Destination {
  readonly host: string;
  readonly port: number;
}

/** A value that the host adds to requests for certain destinations; the agent never sees it. */
export interface InjectedSecret {
  readonly name: string;
  readonly value: string;
  /** Hosts, as `host:port`. */
  readonly hosts: readonly string[];
  /** The header that carries it, in lower case. */
  readonly header: string;
  /** The header's value; `{}` stands for the secret. */
  readonly format: string;
  /** Requests of other methods go without it; in upper case. Absent: all. */
  readonly methods?: readonly string[] | undefined;
  /** Requests for other paths go without it; see `pathMatches`. Absent: all. */
  readonly paths?: readonly string[] | undefined;
}

/** Destinations that a group's containers may reach. None: no egress at all. */
export interface GroupNetwork {
  /** Destinations, as `host:port`. */
  readonly allow: readonly string[];
  /** Those of `allow` that may have an address that is not of the public internet. */
  readonly allowPrivate: readonly string[];
  /** Those of `allow` at which what is sent may come back; no secret is for them. */
  readonly reflects: readonly string[];
  readonly secrets: readonly InjectedSecret[];
}

const maxHostChars = 253;
/** Letters, digits and hyphens in lower case; a name in another script is written as its `xn--` form. */
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Reads `host:port`, exactly: at least two labels of lower-case letters, digits and hyphens, of which the last is not a
 * number (so that no spelling of an IP address fits), a colon, a port without leading zeros. Undefined for all else.
 */
export function parseDestination(text: string): Destination | undefined {
  if (text.length > maxHostChars + 6) return undefined;
  const [host = "", digits = "", ...more] = text.split(":");
  if (more.length > 0 || !isHostName(host) || !/^[1-9]\d{0,4}$/.test(digits)) return undefined;
  const port = Number(digits);
  return port > 65_535 ? undefined : { host, port };
}

function isHostName(host: string): boolean {
  if (host.length > maxHostChars) return false;
  const labels = host.split(".");
  const last = labels.at(-1) ?? "";
  // `0x7f` is read as a number by some resolvers, too.
  return labels.length >= 2 && labels.every((part) => label.test(part)) && !/^(?:\d+|0x[0-9a-f]*)$/.test(last);
}
