/** Address of a container engine on this machine. */
export interface EngineAddress {
  /** `unix:///path`. */
  readonly url: string;
  /** Source of the address (`DOCKER_HOST`, a Docker context); undefined for a usual place. */
  readonly namedBy: string | undefined;
}

/** The path of the socket that a URL names. Throws a plain Error when it names none. */
export function socketPath(url: string): string {
  if (!/^unix:\/\/\/./.test(url)) throw new Error("an engine's address is unix:///path");
  return decodeURIComponent(new URL(url).pathname);
}

/** The same URL with `***` in place of a password. */
export function hidePassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^:@/]*):.*@/, "$1:***@");
}
