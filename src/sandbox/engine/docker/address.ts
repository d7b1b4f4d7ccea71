/** Where an engine of this machine listens. */
export interface EngineAddress {
  /** `unix:///path`. */
  readonly url: string;
  /** What named it (`DOCKER_HOST`, a Docker context), or undefined for one of the usual places. */
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
