import { randomBytes } from "node:crypto";

import type {
  AddClientAuthentication,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";

import type { LoginPlace, McpLogin } from "./login-folder.ts";

export interface ServerLoginOptions {
  /** Of the server. */
  readonly url: string;
  readonly place: LoginPlace;
  /** Where people are sent back to; undefined: the client logs in by itself (client credentials). */
  readonly redirectUrl: string | undefined;
  /** Has somebody open this address, or throws because nobody is there. */
  readonly begin: (address: URL) => Promise<void>;
  /** Where what we are is published: an https address that serves as our id where that is understood. */
  readonly clientMetadataUrl?: string | undefined;
  /** What is asked for unless the server says it. */
  readonly scope?: string | undefined;
  /** With `key`: signs what is sent to get tokens. */
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
  /** Of the login that somebody is at. */
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

  /** What comes back must carry it: then it belongs to the login that was begun here. */
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

  /** Without people, who we are is enough. */
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

  /** Only while somebody logs in: otherwise what the server says then counts. */
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#verifier === undefined ? undefined : this.#discovery;
  }

  /** Tokens that somebody else has put there meanwhile, such as a new login, stay. */
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
