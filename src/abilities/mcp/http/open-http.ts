import type { AuthProvider, OAuthClientProvider } from "@modelcontextprotocol/client";

import type { RemoteServer } from "../../../domain/sandbox/mcp-server.ts";
import { AppError } from "../../../lib/app-error.ts";
import { placeOf } from "../../../lib/http/address-guard.ts";
import { type Fetch, type GuardedFetch, guardedFetch } from "../../../lib/http/guarded-fetch.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import { McpConnection } from "../connection/connection.ts";
import { authorize } from "./authorize.ts";
import type { LoginFolder, LoginStore, McpLogin } from "./login-folder.ts";
import { RemoteTransport } from "./remote-transport.ts";
import { ServerLogin } from "./server-login.ts";

/** Longest call; callers set shorter limits. */
const longestCallMs = 900_000;

export interface OpenHttpPorts {
  readonly logins: LoginFolder;
  /** Fetch function; by default that of `guardedFor`. */
  readonly guarded?: GuardedFetch;
  /** Login by people; without it, a server that requires a login is refused. */
  readonly provider?: OAuthClientProvider | undefined;
  /** See `isOwnIssuer`; for a `provider`. */
  readonly isOwnIssuer?: boolean;
}

type UnauthorizedContext = Parameters<NonNullable<AuthProvider["onUnauthorized"]>>[0];

/**
 * Connects the SDK's client to a server's address through `guardedFetch`. Sending rejects with `unauthorized` when a
 * login is required.
 */
export async function openHttp(server: RemoteServer, ports: OpenHttpPorts): Promise<RemoteTransport> {
  const { SdkHttpError, SSEClientTransport, StreamableHTTPClientTransport } =
    await import("@modelcontextprotocol/client");
  const guarded = ports.guarded ?? guardedFor(server);
  const url = new URL(server.url);
  const options = {
    fetch: withHeaders(guarded.fetch, server),
    authProvider: ports.provider ?? unattended(server, ports.logins.of(server.name, server.url)),
    skipIssuerMetadataValidation: ports.isOwnIssuer === true,
  };
  return new RemoteTransport({
    streamable: new StreamableHTTPClientTransport(url, options),
    openSse: () => new SSEClientTransport(url, options),
    statusOf: (error) => (error instanceof SdkHttpError ? error.status : undefined),
    release: () => guarded[Symbol.dispose](),
  });
}

/** Connects with a server for a look at it: what it says by itself is ignored. */
export async function connectOverHttp(
  server: RemoteServer,
  ports: OpenHttpPorts,
  { version, signal }: { readonly version: string; readonly signal: AbortSignal },
): Promise<McpConnection> {
  return McpConnection.open({
    transport: await openHttp(server, ports),
    client: { name: "crabpot", version },
    isRemote: true,
    onToolsChanged: () => undefined,
    onLog: () => undefined,
    signal,
  });
}

/** Returns the fetch function for a server and its token issuer. Calls may take long, everything else may not. */
export function guardedFor({ url, allowPrivate }: RemoteServer): GuardedFetch {
  const shared = { allowPrivate, allowPorts: [placeOf(new URL(url))] };
  const calls = guardedFetch({ ...shared, headersMs: longestCallMs });
  const others = guardedFetch({ ...shared, maxBytes: 1024 * 1024 });
  const { origin } = new URL(url);
  return {
    fetch: async (input, init) => (new URL(input).origin === origin ? calls : others).fetch(input, init),
    [Symbol.dispose]: () => {
      calls[Symbol.dispose]();
      others[Symbol.dispose]();
    },
  };
}

/** Headers of config.yaml may be secrets: they are for the server alone, not for who gives tokens for it. */
function withHeaders(fetch: Fetch, { url, headers }: RemoteServer): Fetch {
  const { origin } = new URL(url);
  return async (input, init = {}) => {
    if (new URL(input).origin !== origin) return fetch(input, init);
    const all = new Headers(init.headers);
    for (const [name, value] of Object.entries(headers)) if (!all.has(name)) all.set(name, value);
    return fetch(input, { ...init, headers: all });
  };
}

/** Uses and renews existing tokens. */
function unattended(server: RemoteServer, place: LoginStore): AuthProvider {
  let renewing: Promise<void> | undefined;
  return {
    token: async () => (await place.read())?.tokens?.access_token,
    // Many requests fail at once when a token has run out; who refreshes twice with the same may lose both.
    onUnauthorized: async (context) => {
      renewing ??= renew(server, place, context).finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
  };
}

async function renew(server: RemoteServer, place: LoginStore, context: UnauthorizedContext): Promise<void> {
  const login = await place.read();
  if (login?.tokens === undefined) {
    await place.write(login ?? { version: 1, url: server.url });
    throw loginNeeded(server);
  }
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(context.response);
  const provider = new ServerLogin({
    url: server.url,
    place,
    redirectUrl: login.redirectUrl,
    authenticate: await keyAuthentication(login),
    begin: async () => {
      throw loginNeeded(server);
    },
  });
  await authorize(provider, {
    serverUrl: context.serverUrl,
    fetchFn: context.fetchFn,
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
    ...(scope !== undefined && { scope }),
  });
}

/** For logins with a key. */
export async function keyAuthentication({ client, key }: Pick<McpLogin, "client" | "key">) {
  if (!client || !key) return undefined;
  const { createPrivateKeyJwtAuth } = await import("@modelcontextprotocol/client");
  const { client_id: id } = client;
  return createPrivateKeyJwtAuth({ issuer: id, subject: id, privateKey: key.pem, alg: key.algorithm });
}

function loginNeeded({ name, headers }: RemoteServer): AppError {
  const given = Object.keys(headers).find((header) => header.toLowerCase() === "authorization");
  const refused = given === undefined ? "" : ` The header ${given} of config.yaml is not enough for it.`;
  return new AppError("unauthorized", `The MCP server ${name} asks for a login.${refused}`, {
    fix: ownCommand(`mcp login ${name}`),
  });
}
