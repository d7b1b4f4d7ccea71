import type { OAuthClientProvider } from "@modelcontextprotocol/client";

import type { RemoteServer } from "../../src/domain/sandbox/mcp-server.ts";
import { guardedFetch } from "../../src/lib/http/guarded-fetch.ts";
import { McpConnection } from "../../src/abilities/mcp/connection/connection.ts";
import { authorize, isOwnIssuer } from "../../src/abilities/mcp/http/authorize.ts";
import { draftLogin, LoginFolder, type McpLogin } from "../../src/abilities/mcp/http/login-folder.ts";
import { keyAuthentication, openHttp } from "../../src/abilities/mcp/http/open-http.ts";
import { ServerLogin } from "../../src/abilities/mcp/http/server-login.ts";

/**
 * The client examined by `npm run conformance`: crabpot's connection, transport and login, with a person who agrees to
 * everything. Called with the server's address; MCP_CONFORMANCE_SCENARIO names the scenario, MCP_CONFORMANCE_CONTEXT
 * its input.
 */
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Readonly<Record<string, string>>;
const url = process.argv.at(-1) ?? "";
const patience = AbortSignal.timeout(280_000);
const server: RemoteServer = {
  kind: "remote",
  name: "conformance",
  url,
  headers: {},
  allowPrivate: [],
  tools: undefined,
  forms: "text",
  risk: undefined,
};
/** Address expected by scenarios; nobody fetches the document. */
const clientMetadataUrl = "https://conformance-test.local/client-metadata.json";
const redirectUrl = "http://localhost:3000/callback";

/** Allows any port of this machine, as the servers' ports are unknown, and nothing else. */
const held = new Map<string, ReturnType<typeof guardedFetch>>();
const guarded = {
  fetch: async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const { host, hostname } = new URL(input);
    if (!["localhost", "127.0.0.1"].includes(hostname)) throw new Error(`${host} is not on this machine`);
    const one = held.get(host) ?? guardedFetch({ allowPrivate: [host] });
    held.set(host, one);
    return one.fetch(input, init);
  },
  [Symbol.dispose]: () => undefined,
};

/** A server that is never content is not for people. */
const mostLogins = 3;

/** Agrees to whatever a person is asked for, and gives back what their browser would bring. */
class WillingPerson {
  logins = 0;
  readonly place;
  readonly login: ServerLogin;
  answer: URLSearchParams | undefined;

  constructor(known: Partial<McpLogin>, authenticate?: Awaited<ReturnType<typeof keyAuthentication>>) {
    this.place = draftLogin({ version: 1, url, ...known });
    const isPerson = scenario !== "auth/client-credentials-jwt" && scenario !== "auth/client-credentials-basic";
    this.login = new ServerLogin({
      url,
      place: this.place,
      redirectUrl: isPerson ? redirectUrl : undefined,
      begin: async (address) => this.#agree(address),
      ...(scenario === "auth/basic-cimd" && { clientMetadataUrl }),
      authenticate,
    });
  }

  async #agree(address: URL): Promise<void> {
    this.logins += 1;
    if (this.logins > mostLogins) throw new Error(`nobody logs in more than ${mostLogins} times`);
    const { headers, status } = await guarded.fetch(address, { redirect: "manual" });
    const back = headers.get("location");
    if (back === null) throw new Error(`the login page has answered with ${status}`);
    const { searchParams } = new URL(back, redirectUrl);
    if (!this.login.isOwnState(searchParams.get("state"))) throw new Error("the answer belongs to another login");
    this.answer = searchParams;
  }
}

async function findPerson(): Promise<WillingPerson> {
  const { client_id: id = "", client_secret: secret, private_key_pem: pem, signing_algorithm: algorithm } = context;
  if (id === "") return new WillingPerson({});
  const client = { client_id: id, ...(secret !== undefined && { client_secret: secret }) };
  if (pem === undefined || algorithm === undefined) return new WillingPerson({ client });
  const key = { pem, algorithm };
  return new WillingPerson({ client, key }, await keyAuthentication({ client, key }));
}

/** Cross-app access: a company's server vouches for a person at another server. */
async function crossAppAccess(): Promise<OAuthClientProvider> {
  const { CrossAppAccessProvider, requestJwtAuthorizationGrant } = await import("@modelcontextprotocol/client");
  return new CrossAppAccessProvider({
    clientId: context["client_id"] ?? "",
    clientSecret: context["client_secret"] ?? "",
    assertion: async ({ authorizationServerUrl, resourceUrl, fetchFn }) => {
      const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
        tokenEndpoint: context["idp_token_endpoint"] ?? "",
        audience: authorizationServerUrl,
        resource: resourceUrl,
        idToken: context["idp_id_token"] ?? "",
        clientId: context["idp_client_id"] ?? "",
        fetchFn,
      });
      return jwtAuthGrant;
    },
    fetchFn: guarded.fetch,
  });
}

const person = await findPerson();
const provider = scenario === "auth/cross-app-access-complete-flow" ? await crossAppAccess() : person.login;

async function connect(ownIssuer = false): Promise<McpConnection> {
  const logins = new LoginFolder("/nonexistent");
  const transport = await openHttp(server, { logins, guarded, provider, isOwnIssuer: ownIssuer });
  try {
    return await McpConnection.open({
      transport,
      client: { name: "crabpot", version: "conformance" },
      isRemote: true,
      // Somebody who fills in nothing: what the form suggests is what is sent.
      wishes: { elicit: async () => ({ action: "accept", content: {} }) },
      onToolsChanged: () => undefined,
      onLog: () => undefined,
      signal: patience,
    });
  } catch (error) {
    if (!ownIssuer && (await isOwnIssuer(error, url))) return connect(true);
    if (!(await finishLogin())) throw error;
    return connect(ownIssuer);
  }
}

/** Finishes a login, if one was started. */
async function finishLogin(): Promise<boolean> {
  const { answer } = person;
  if (answer === undefined) return false;
  person.answer = undefined;
  await authorize(person.login, {
    serverUrl: url,
    authorizationCode: answer.get("code") ?? "",
    ...(answer.has("iss") && { iss: answer.get("iss") ?? "" }),
    fetchFn: guarded.fetch,
  });
  return true;
}

/** Calls all tools, with numbers where required. */
async function useTools(connection: McpConnection): Promise<void> {
  const { items } = await connection.listTools(patience);
  for (const { name } of items as readonly { readonly name: string }[])
    await connection.callTool(name, { a: 5, b: 3 }, { signal: patience, timeoutMs: 20_000 });
}

let connection = await connect();
for (;;) {
  try {
    await useTools(connection);
    break;
  } catch (error) {
    if (!(await finishLogin())) throw error;
    await connection[Symbol.asyncDispose]();
    connection = await connect();
  }
}
await connection[Symbol.asyncDispose]();
for (const one of held.values()) one[Symbol.dispose]();
