import pino from "pino";
import { Registry } from "prom-client";

import { HttpChannel } from "../../src/channels/http/http-channel.ts";
import type { OutgoingMessage } from "../../src/domain/chats/message.ts";
import { createGatewayServer, type GatewayServer } from "../../src/surfaces/http/server.ts";
import { systemClock } from "../../src/lib/time/clock.ts";

export const token = "token-of-the-tests";

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

interface Replies {
  readonly replies: readonly {
    readonly seq: number;
    readonly group: string;
    readonly text: string;
    readonly thread: string | null;
    readonly file?: { readonly href: string };
  }[];
  readonly next: number;
}

/** A real gateway on a free port with the http channel behind it, and a client that has the token. */
export interface HttpRig extends AsyncDisposable {
  readonly channel: HttpChannel;
  readonly server: GatewayServer;
  readonly url: string;
  /** Puts a reply where the channel reads it. */
  offer(message: OutgoingMessage): void;
  /** Number of times that the channel looked for replies. */
  reads(): number;
  /** To the route for messages, or to another one of the channel. */
  post(body: unknown, route?: "reactions"): Promise<Answer>;
  fetch(path: string, init?: RequestInit): Promise<Answer>;
  replies(query?: string): Promise<Replies>;
  /** The bytes of a file. */
  download(path: string): Promise<Buffer>;
}

export async function openHttpRig(): Promise<HttpRig> {
  const outbox: OutgoingMessage[] = [];
  let reads = 0;
  const server = createGatewayServer({
    host: "127.0.0.1",
    port: 0,
    token,
    ready: async () => ({ ready: true, reasons: [] }),
    metrics: new Registry(),
    clock: systemClock,
    logger: pino({ level: "silent" }),
  });
  const channel = new HttpChannel({
    routes: server.routes,
    outgoing: {
      after: async (seq, limit) => {
        reads += 1;
        return outbox.filter((message) => message.seq > seq).slice(0, limit);
      },
      get: async (wanted) => outbox.find(({ seq }) => seq === wanted),
      sentTo: async () => [],
    },
    clock: systemClock,
  });
  const { host, port } = await server.listen();
  const url = `http://${host}:${port}`;

  const request = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) };
    const response = await fetch(`${url}${path}`, { ...init, headers });
    const body: unknown = await response.json();
    return { status: response.status, headers: response.headers, body };
  };
  return {
    channel,
    server,
    url,
    fetch: request,
    reads: () => reads,
    offer(message) {
      if (!outbox.some(({ seq }) => seq === message.seq)) outbox.push(message);
    },
    post: (body, route: "messages" | "reactions" = "messages") =>
      request(`/v1/channels/http/${route}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    replies: async (query = "") => (await request(`/v1/channels/http/replies${query}`)).body as Replies,
    download: async (path) => {
      const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
      return Buffer.from(await response.arrayBuffer());
    },
    async [Symbol.asyncDispose]() {
      await channel[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
