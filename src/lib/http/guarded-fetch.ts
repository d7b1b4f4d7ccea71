import http from "node:http";
import https from "node:https";
import { addAbortSignal, Readable } from "node:stream";

import { AppError } from "../app-error.ts";
import { mebibyte } from "../text/bytes.ts";
import { AddressGuard, type ResolveHost } from "./address-guard.ts";
import { boundedBody, isEventStream } from "./bounded-body.ts";

export interface GuardedFetchOptions {
  /** `host:port`, written as in a URL, that may be on a private network or on this machine. */
  readonly allowPrivate?: readonly string[];
  /** `host:port` that may have a port other than 80 and 443. */
  readonly allowPorts?: readonly string[];
  /** Nothing else than `allowPrivate` and `allowPorts` may be asked. */
  readonly onlyListed?: boolean;
  /** Maximum unpacked bytes of a response, or of each event in a stream. */
  readonly maxBytes?: number;
  /** Until the headers of an answer are there, redirects included. */
  readonly headersMs?: number;
  /** In which nothing comes of a body. */
  readonly silenceMs?: number;
  /** In which all of a body must have come. */
  readonly bodyMs?: number;
  /** Name resolution; the system's by default. */
  readonly resolve?: ResolveHost | undefined;
}

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** Disposing it ends its connections. */
export interface GuardedFetch extends Disposable {
  readonly fetch: Fetch;
}

const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** All that is sent on to another origin: any other header may be somebody's credentials. */
const harmlessHeaders: ReadonlySet<string> = new Set(["accept", "accept-language", "user-agent"]);
const agentOptions = { keepAlive: true, maxSockets: 64, maxFreeSockets: 4, autoSelectFamily: true };
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * A `fetch` for addresses that come from elsewhere. It reaches the public internet only, checked for each connection
 * and after each redirect; waits and reads within limits; takes no proxy and no credentials from the environment; has
 * no cookies and no cache. Rejects with `address_refused` and `too_large`, or with what the network said.
 */
export function guardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const fetcher = new GuardedFetcher(options);
  return { fetch: async (input, init) => fetcher.fetch(input, init), [Symbol.dispose]: () => fetcher.close() };
}

interface Sent {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array | undefined;
}

class GuardedFetcher {
  readonly #options: Required<Pick<GuardedFetchOptions, "maxBytes" | "headersMs" | "silenceMs" | "bodyMs">>;
  readonly #guard: AddressGuard;
  // With their own agents, requests go by no proxy that the environment names.
  readonly #agents = {
    "http:": new http.Agent(agentOptions),
    "https:": new https.Agent(agentOptions),
  };

  constructor(options: GuardedFetchOptions) {
    const { allowPrivate = [], allowPorts = [], onlyListed = false, resolve, ...limits } = options;
    const { maxBytes = 16 * mebibyte, headersMs = 30_000, silenceMs = 60_000, bodyMs = 300_000 } = limits;
    this.#options = { maxBytes, headersMs, silenceMs, bodyMs };
    this.#guard = new AddressGuard({ allowPrivate, allowPorts, onlyListed, resolve });
  }

  async fetch(input: string | URL, init: RequestInit = {}): Promise<Response> {
    const headersEnd = AbortSignal.timeout(this.#options.headersMs);
    let sent = toSent(input, init);
    for (let followed = 0; ; followed += 1) {
      const response = await this.#send(sent, init.signal ?? undefined, headersEnd);
      const status = response.statusCode ?? 0;
      const { location } = response.headers;
      if (!redirects.has(status) || location === undefined || init.redirect === "manual")
        return this.#toResponse(response, sent.url, init.signal);
      response.destroy();
      if (init.redirect === "error" || followed >= maxRedirects)
        throw new AppError(
          "address_refused",
          `${sent.url.origin} redirects ${followed === 0 ? "" : "again "}to another address.`,
        );
      sent = redirected(sent, location, status);
    }
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  async #send({ url, method, headers, body }: Sent, signal: AbortSignal | undefined, headersEnd: AbortSignal) {
    this.#guard.check(url);
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const isSecure = url.protocol === "https:";
    const request = (isSecure ? https : http).request(url, {
      method,
      headers: Object.fromEntries(headers),
      agent: this.#agents[isSecure ? "https:" : "http:"],
      lookup: this.#guard.lookupFor(url),
      maxHeaderSize: 64 * 1024,
      ...(signal ? { signal } : {}),
    });
    const late = (): void => {
      request.destroy(new Error(`${url.origin} did not answer in ${this.#options.headersMs / 1000} s`));
    };
    headersEnd.addEventListener("abort", late, { once: true });
    request.on("response", resolve);
    // It stays: what fails after the response would end the process otherwise; whoever reads the body is told as well.
    request.on("error", reject);
    if (headersEnd.aborted) late();
    request.end(body);
    return promise.finally(() => headersEnd.removeEventListener("abort", late));
  }

  #toResponse(response: http.IncomingMessage, url: URL, signal: RequestInit["signal"]): Response {
    const status = response.statusCode ?? 502;
    const headers = new Headers();
    for (const [name, values] of Object.entries(response.headersDistinct))
      for (const value of values ?? []) headers.append(name, value);
    if (bodiless.has(status)) {
      response.resume();
      return withUrl(new Response(null, { status, headers }), url);
    }
    const body = boundedBody(response, this.#options);
    // Without it what had come by then would look like all of it.
    if (signal) addAbortSignal(signal, body);
    // What comes out is unpacked.
    headers.delete("content-encoding");
    if (!isEventStream(response)) headers.delete("content-length");
    return withUrl(new Response(Readable.toWeb(body) as ReadableStream, { status, headers }), url);
  }
}

function withUrl(response: Response, url: URL): Response {
  return Object.defineProperty(response, "url", { value: url.href });
}

function toSent(input: string | URL, { method = "GET", headers: given, body }: RequestInit): Sent {
  const headers = new Headers(given);
  const bytes = bytesOf(body);
  if (body instanceof URLSearchParams && !headers.has("content-type"))
    headers.set("content-type", "application/x-www-form-urlencoded;charset=UTF-8");
  if (bytes) headers.set("content-length", String(bytes.length));
  if (!headers.has("user-agent")) headers.set("user-agent", "crabpot");
  if (!headers.has("accept")) headers.set("accept", "*/*");
  headers.set("accept-encoding", "gzip, deflate, br");
  return { url: new URL(input), method: method.toUpperCase(), headers, body: bytes };
}

function bytesOf(body: RequestInit["body"]): Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string" || body instanceof URLSearchParams) return Buffer.from(String(body));
  if (body instanceof Uint8Array) return body;
  throw new TypeError("A request body must be a text, a form or bytes.");
}

/**
 * The request that a redirect asks for, as browsers understand it, without credentials or contents for another origin.
 */
function redirected({ url, method, headers, body }: Sent, location: string, status: number): Sent {
  const next = redirectTarget(url, location);
  const isSameOrigin = next.origin === url.origin;
  const isGet = method === "GET" || method === "HEAD";
  const becomesGet = !isGet && (status === 303 || (status < 303 && method === "POST"));
  if (!isSameOrigin && !isGet && !becomesGet)
    throw new AppError("address_refused", `${url.origin} wants what was sent to it to be sent to ${next.origin}.`);
  const kept = [...headers].filter(([name]) => {
    if (name === "accept-encoding") return true;
    if (!isSameOrigin) return harmlessHeaders.has(name);
    return !becomesGet || !name.startsWith("content-");
  });
  return {
    url: next,
    method: becomesGet ? "GET" : method,
    headers: new Headers(kept),
    body: becomesGet ? undefined : body,
  };
}

function redirectTarget(url: URL, location: string): URL {
  const next = URL.parse(location, url.href);
  if (!next) throw new AppError("address_refused", `${url.origin} redirects to something that is no address.`);
  if (url.protocol === "https:" && next.protocol !== "https:")
    throw new AppError("address_refused", `${url.origin} redirects to an address without encryption.`);
  return next;
}
