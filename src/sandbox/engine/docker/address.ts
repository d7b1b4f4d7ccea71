import { isIPv4, isIPv6 } from "node:net";
import type { Surroundings } from "../surroundings.ts";
import type { TlsIdentity } from "./tls-identity.ts";

/** Where an engine listens, and what it takes to get there. */
export interface EngineAddress {
  /** `unix:///path`, `tcp://host:port` or `ssh://user@host:port`. Never holds a secret: it is shown. */
  readonly url: string;
  /** What named it (`DOCKER_HOST`, a Docker context), or undefined for one of the usual places. */
  readonly namedBy: string | undefined;
  /** With which certificates to speak TLS; without them `tcp` is plain. */
  readonly tls?: TlsIdentity | undefined;
  /** The environment that the `ssh` program takes its part of. */
  readonly env?: Surroundings["env"] | undefined;
}

/** The parts of an engine's URL. IPv6 addresses are without brackets. */
export type EngineRoute =
  | { readonly kind: "unix"; readonly path: string }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number | undefined }
  | SshRoute;

/** What the `ssh` program is to connect to; what is left out is for its own configuration to say. */
export interface SshRoute {
  readonly kind: "ssh";
  readonly user: string | undefined;
  readonly host: string;
  readonly port: number | undefined;
}

// Neither host nor user can be taken for an option of ssh, or mean something to a shell in its configuration.
const host = String.raw`(\[[\da-fA-F:.]+\]|\w[\w.-]*)(?::(\d{1,5}))?/?`;
const tcpUrl = new RegExp(`^tcp://${host}$`);
const sshUrl = new RegExp(String.raw`^ssh://(?:(\w[\w.+-]*)@)?${host}$`);

/** Takes a URL apart. Throws a plain Error with the reason when it is none that can be used. */
export function parseEngineUrl(url: string): EngineRoute {
  if (/^unix:\/\/\/./.test(url)) return { kind: "unix", path: decodeURIComponent(new URL(url).pathname) };
  if (hidePassword(url) !== url) throw new Error("it holds a password, which others could read. Use a key");
  const tcp = tcpUrl.exec(url);
  if (tcp !== null) return { kind: "tcp", host: bareHost(tcp[1]), port: parsePort(tcp[2]) };
  const ssh = sshUrl.exec(url);
  if (ssh !== null) return { kind: "ssh", user: ssh[1], host: bareHost(ssh[2]), port: parsePort(ssh[3]) };
  throw new Error("an engine's address is unix:///path, tcp://host:port or ssh://user@host:port");
}

/** The same URL with `***` in place of a password. */
export function hidePassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^:@/]*):.*@/, "$1:***@");
}

/** Does the name lead to this machine without being looked up elsewhere? */
export function isLoopback(name: string): boolean {
  return name === "localhost" || name === "::1" || (isIPv4(name) && name.startsWith("127."));
}

function bareHost(text = ""): string {
  if (!text.startsWith("[")) return text;
  const address = text.slice(1, -1);
  if (isIPv6(address)) return address;
  throw new Error(`${text} is not an IPv6 address`);
}

function parsePort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (port >= 1 && port <= 65_535) return port;
  throw new Error(`${text} is not a port`);
}
