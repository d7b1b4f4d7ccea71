import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface RemoteServerOptions {
  /** Wants a token that its own login has given. */
  readonly asksForLogin?: boolean;
  /** Knows only the older way: events on a GET, messages by POST to an address that the first event names. */
  readonly speaksSse?: boolean;
  /** Server whose tokens it accepts in place of those it issues. */
  readonly tokensFrom?: RemoteMcpServer;
  /** Seconds that a token is good for, as it says; when it ends is up to `expireTokens`. */
  readonly tokenSeconds?: number;
}

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An MCP server at an address, with its own login, on this machine: what it was asked is in `seen`. */
export class RemoteMcpServer implements AsyncDisposable {
  readonly place: string;
  readonly url: string;
  readonly seen: Seen[] = [];
  readonly #options: RemoteServerOptions;
  readonly #server;
  readonly #goodTokens = new Set<string>();
  readonly #refreshTokens = new Set<string>();
  #events: ServerResponse | undefined;
  /** Number of token refreshes. */
  refreshes = 0;

  private constructor(server: ReturnType<typeof createServer>, options: RemoteServerOptions) {
    this.#server = server;
    this.#options = options;
    this.place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.url = `http://${this.place}/mcp`;
  }

  static async start(options: RemoteServerOptions = {}): Promise<RemoteMcpServer> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const made = new RemoteMcpServer(server, options);
    server.on("request", (request: IncomingMessage, response: ServerResponse) => void made.#answer(request, response));
    return made;
  }

  /** No token that was given out is good anymore; refreshing still is, unless `all`. */
  expireTokens(all = false): void {
    this.#goodTokens.clear();
    if (all) this.#refreshTokens.clear();
  }

  #takes(token: string): boolean {
    return (this.#options.tokensFrom ?? this).#goodTokens.has(token);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "/", headers } = request;
    const body = await text(request);
    const { pathname, searchParams } = new URL(url, this.url);
    this.seen.push({ method, path: pathname, headers, body });
    if (pathname === "/mcp" || pathname === "/messages")
      return this.#answerMcp({ method, path: pathname, headers, body }, response);
    this.#answerLogin(pathname, pathname === "/authorize" ? searchParams : new URLSearchParams(body), response);
  }

  #answerLogin(path: string, asked: URLSearchParams, response: ServerResponse): void {
    const origin = `http://${this.place}`;
    const giver = this.#options.tokensFrom?.place ?? this.place;
    if (this.#options.asksForLogin !== true) return void response.writeHead(404).end();
    switch (path) {
      case "/.well-known/oauth-protected-resource/mcp":
        return json(response, { resource: this.url, authorization_servers: [`http://${giver}`] });
      case "/.well-known/oauth-authorization-server":
        return json(response, {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
        });
      case "/register":
        return json(response, { client_id: "registered", redirect_uris: ["http://127.0.0.1/callback"] }, 201);
      case "/authorize": {
        const back = new URL(asked.get("redirect_uri") ?? "");
        back.searchParams.set("code", "c0de");
        back.searchParams.set("state", asked.get("state") ?? "");
        return void response.writeHead(302, { location: back.href }).end();
      }
      case "/token":
        return this.#giveTokens(asked, response);
    }
    response.writeHead(404).end();
  }

  #giveTokens(asked: URLSearchParams, response: ServerResponse): void {
    const refresh = asked.get("refresh_token");
    const isGood =
      refresh === null
        ? asked.get("grant_type") === "client_credentials" ||
          (asked.get("code") === "c0de" && asked.has("code_verifier"))
        : this.#refreshTokens.delete(refresh);
    if (!isGood) return json(response, { error: "invalid_grant" }, 400);
    if (refresh !== null) this.refreshes += 1;
    const [access_token, refresh_token] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    this.#goodTokens.add(access_token);
    this.#refreshTokens.add(refresh_token);
    json(response, { access_token, refresh_token, token_type: "Bearer", expires_in: this.#options.tokenSeconds ?? 60 });
  }

  #answerMcp({ method, path, headers, body }: Seen, response: ServerResponse): void {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1];
    if (this.#options.asksForLogin === true && !this.#takes(token ?? "")) {
      const metadata = `http://${this.place}/.well-known/oauth-protected-resource/mcp`;
      return void response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }).end();
    }
    if (this.#options.speaksSse === true) return this.#answerSse({ method, path, body }, response);
    if (method !== "POST") return void response.writeHead(405).end();
    const answer = answerTo(JSON.parse(body) as Asked);
    if (answer) json(response, answer);
    else response.writeHead(202).end();
  }

  #answerSse({ method, path, body }: Pick<Seen, "method" | "path" | "body">, response: ServerResponse): void {
    if (method === "GET" && path === "/mcp") {
      this.#events = response.writeHead(200, { "content-type": "text/event-stream" });
      return void response.write("event: endpoint\ndata: /messages\n\n");
    }
    if (path !== "/messages") return void response.writeHead(405).end();
    const answer = answerTo(JSON.parse(body) as Asked);
    response.writeHead(202).end();
    if (answer) this.#events?.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.closeAllConnections();
    this.#server.close();
    await closed;
  }
}

interface Asked {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: Readonly<Record<string, unknown>> };
}

function answerTo({ id, method, params }: Asked): object | undefined {
  if (id === undefined) return undefined;
  const result = results[method]?.(params);
  if (result) return { jsonrpc: "2.0", id, result };
  return { jsonrpc: "2.0", id, error: { code: -32_601, message: `no method ${method}` } };
}

const results: Readonly<Record<string, (params: Asked["params"]) => object>> = {
  initialize: () => ({
    protocolVersion: "2025-06-18",
    serverInfo: { name: "remote", version: "1.0.0" },
    capabilities: { tools: {} },
  }),
  ping: () => ({}),
  "tools/list": () => ({
    tools: [{ name: "echo", description: "Says it again.", inputSchema: { type: "object", properties: {} } }],
  }),
  "tools/call": (params) => ({ content: [{ type: "text", text: `echo ${JSON.stringify(params?.arguments)}` }] }),
};

function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
