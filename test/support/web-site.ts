import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A site of the test's own on this machine. */
export interface WebSite extends AsyncDisposable {
  /** `host:port`, as it is allowed. */
  readonly place: string;
  readonly url: string;
  /** Paths that were requested, with their queries. */
  readonly asked: readonly string[];
  readonly headers: readonly IncomingMessage["headers"][];
}

/** Answers by path; any other one is not found. */
export async function openWebSite(pages: Readonly<Record<string, Answer>>): Promise<WebSite> {
  const asked: string[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    headers.push(request.headers);
    const path = (request.url ?? "").split("?")[0] ?? "";
    const answer = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (answer) return answer(response, request);
    response.writeHead(404, { "content-type": "text/html" }).end("<h1>Nothing here</h1>");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    place,
    url: `http://${place}`,
    asked,
    headers,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A page with these bytes, of this type. */
export function page(content: string | Uint8Array, type = "text/html; charset=utf-8"): Answer {
  return (response) => response.writeHead(200, { "content-type": type }).end(content);
}

/** A page that leads elsewhere. */
export function redirect(location: string, status = 302): Answer {
  return (response) => response.writeHead(status, { location }).end();
}
