import { randomBytes } from "node:crypto";

import type {
  AddClientAuthentication,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";

import type { LoginStore, McpLogin } from "./login-folder.ts";

export interface ServerLoginOptions {
  /** Address of the server. */
  readonly url: string;
  readonly place: LoginStore;
  /** Redirect address; undefined for a client that logs in without people (client credentials). */
  readonly redirectUrl: string | undefined;
  /** Has a person open this address, or throws when nobody is available. */
  readonly begin: (address: URL) => Promise<void>;
  /** HTTPS address with our client metadata, which serves as client id where supported. */
  readonly clientMetadataUrl?: string | undefined;
  /** Scope requested unless the server names one. */
  readonly scope?: string | undefined;
  /** Signs token requests, with `key`. */
  readonly authenticate?: AddClientAuthentication | undefined;
}

/**
 * OAuth 2.1 of one server, as the SDK drives it: PKCE, registration, refreshing. What has to last is in the place of
 * the login.
 */
export class ServerLogin implements OAuthClientProvider {
  readonly clientMetadataUrl?: string;
  readonly addClientAuthentication?: AddClientAuthentication;
  readonly #options: ServerLoginOptions;
  /** Verifier of the current login. */
  #verifier: string | undefined;
  #state: string | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  #given: string | undefined;

  constructor(options: ServerLoginOptions) {
    this.#options = options;
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl;
    if (options.authenticate) this.addClientAuthentication = options.authenticate;
  }

  get redirectUrl(): string | undefined {
    return this.#options.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { redirectUrl, scope } = this.#options;
    return {
      client_name: "crabpot",
      redirect_uris: redirectUrl === undefined ? [] : [redirectUrl],
      grant_types: redirectUrl === undefined ? ["client_credentials"] : ["authorization_code", "refresh_token"],
      response_types: redirectUrl === undefined ? [] : ["code"],
      ...(scope !== undefined && { scope }),
    };
  }

  /** State that the redirect must carry to match this login. */
  state(): string {
    this.#state = randomBytes(16).toString("hex");
    return this.#state;
  }

  isOwnState(state: string | null): boolean {
    return this.#state !== undefined && state === this.#state;
  }

  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    return (await this.#read()).client;
  }

  async saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    await this.#change({ client: { ...client } });
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    const { tokens } = await this.#read();
    this.#given = tokens?.access_token;
    return tokens;
  }

  /** A refreshed token may come without a new one to refresh it with: then the old one stays good. */
  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    const { tokens: before } = await this.#read();
    const kept = before?.refresh_token === undefined ? {} : { refresh_token: before.refresh_token };
    await this.#change({ tokens: { ...kept, ...tokens } });
    this.#verifier = undefined;
    this.#discovery = undefined;
  }

  /** Token request without people, by client credentials. */
  prepareTokenRequest(scope?: string): URLSearchParams | undefined {
    if (this.#options.redirectUrl !== undefined) return undefined;
    return new URLSearchParams({
      grant_type: "client_credentials",
      ...(scope !== undefined && scope !== "" && { scope }),
    });
  }

  async redirectToAuthorization(address: URL): Promise<void> {
    await this.#options.begin(address);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    if (this.#verifier === undefined) throw new Error("no login was begun");
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  /** Discovery result, only during a login; otherwise the server's current one counts. */
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#verifier === undefined ? undefined : this.#discovery;
  }

  /** Forgets credentials, but keeps tokens that were replaced meanwhile, as by a new login. */
  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    const isAll = scope === "all";
    if (isAll || scope === "verifier") this.#verifier = undefined;
    if (isAll || scope === "discovery") this.#discovery = undefined;
    if (scope === "verifier" || scope === "discovery") return;
    const { tokens, client, ...rest } = await this.#read();
    if (tokens?.access_token !== this.#given) return;
    // What was agreed on before is not made anew.
    const dropsClient = scope !== "tokens" && this.#options.redirectUrl !== undefined;
    await this.#options.place.write({ ...rest, ...(client && !dropsClient && { client }) });
  }

  async #read(): Promise<McpLogin> {
    const { url, redirectUrl, place } = this.#options;
    return (await place.read()) ?? { version: 1, url, ...(redirectUrl !== undefined && { redirectUrl }) };
  }

  async #change(change: Partial<Pick<McpLogin, "client" | "tokens">>): Promise<void> {
    const { client, tokens, ...rest } = { ...(await this.#read()), ...change };
    await this.#options.place.write({ ...rest, ...(client && { client }), ...(tokens && { tokens }) });
  }
}
