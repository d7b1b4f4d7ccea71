import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { pipeline, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

import { toError } from "../../lib/app-error.ts";
import { mebibyte } from "../../lib/text/bytes.ts";
import { readEventStream } from "./event-stream.ts";

/** More than the longest answer of any model as server-sent events; what goes beyond is not an answer. */
const maxStreamBytes = 128 * mebibyte;

/** More than the longest list of models; it is parsed at once, and a larger one would keep the whole host waiting. */
const maxBodyBytes = 2 * mebibyte;

/** The other side said nothing for too long. */
export class SilenceError extends Error {
  override readonly name = "SilenceError";

  constructor(silenceMs: number) {
    super(`nothing was received for ${silenceMs / 1000} s`);
  }
}

export type Transport = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * The `fetch` that vendors' SDKs are given. Exactly the given headers are sent, whatever the SDK or its environment
 * variables add; redirects are not followed; a connection on which nothing moves for `silenceMs` is ended with
 * SilenceError, before the headers and between any two chunks (Node's own fetch gives up after 300 s and cannot be told
 * otherwise).
 */
export function createTransport(options: { headers: Readonly<Record<string, string>>; silenceMs: number }): Transport {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const body = bodyOf(init);
    const request = (url.protocol === "https:" ? https : http).request(url, {
      method: init.method ?? "GET",
      headers: { "user-agent": "crabpot", ...options.headers, ...headersFor(body) },
      timeout: options.silenceMs,
    });
    let response: http.IncomingMessage | undefined;
    // Without a listener an error after the response would end the process; the body's reader gets it as well.
    request.on("error", () => undefined);
    endWith(init.signal ?? undefined, request, () => response);
    request.on("timeout", () => (response ?? request).destroy(new SilenceError(options.silenceMs)));
    request.end(body);
    [response] = (await once(request, "response")) as [http.IncomingMessage];
    // The same for a body that nobody reads to its end.
    response.on("error", () => undefined);
    return toResponse(response, body !== undefined);
  };
}

/**
 * Ends a request on abort. Node's own signal option can raise an unhandled error on the socket after the whole response
 * has come in; readers of the body learn of the abort without it.
 */
function endWith(
  signal: AbortSignal | undefined,
  request: http.ClientRequest,
  response: () => http.IncomingMessage | undefined,
): void {
  if (!signal) return;
  const end = (): void => {
    const received = response();
    if (received) received.destroy();
    else request.destroy(toError(signal.reason));
  };
  if (signal.aborted) end();
  signal.addEventListener("abort", end);
  request.once("close", () => signal.removeEventListener("abort", end));
}

function bodyOf(init: RequestInit): string | undefined {
  const { body } = init;
  if (body === undefined || body === null) return undefined;
  if (typeof body !== "string") throw new TypeError("A request body must be a text.");
  return body;
}

function headersFor(body: string | undefined): Record<string, string> {
  if (body === undefined) return { accept: "application/json" };
  return {
    accept: "text/event-stream, application/json",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
  };
}

/** Response to a request with a body is an event stream unless it says otherwise. */
function toResponse(response: http.IncomingMessage, hasAsked: boolean): Response {
  const status = response.statusCode ?? 502;
  const body = unpacked(response);
  const received = hasAsked && status === 200 ? eventsOf(response, body) : upTo(maxBodyBytes, body);
  const hasBody = ![204, 205, 304].includes(status);
  const headers = new Headers();
  for (const [name, values] of Object.entries(response.headersDistinct))
    for (const value of values ?? []) if (name !== "content-encoding") headers.append(name, value);
  return new Response(hasBody ? ReadableStream.from(received) : null, { status, headers });
}

function eventsOf(response: http.IncomingMessage, body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const type = response.headers["content-type"] ?? "";
  if (/\bjson\b/i.test(type)) return asOneEvent(upTo(maxBodyBytes, body));
  if (/\bhtml\b/i.test(type)) response.destroy(new Error("it answered with a web page"));
  return readEventStream(upTo(maxStreamBytes, body));
}

const unpackers: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Nobody has asked for a packed body; some proxies pack it all the same. */
function unpacked(response: http.IncomingMessage): AsyncIterable<Uint8Array> {
  const unpack = unpackers[response.headers["content-encoding"]?.trim().toLowerCase() ?? ""];
  return unpack === undefined ? response : pipeline(response, unpack(), () => undefined);
}

/** A whole answer, of a server that knows no streaming, as the only event of a stream. */
async function* asOneEvent(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const text = Buffer.concat(await Array.fromAsync(body)).toString("utf8");
  yield Buffer.from(`data: ${text.trim().replaceAll(/\r\n?|\n/g, "\ndata: ")}\n\n`);
}

/** The chunks of a body; fails where they are more than this many bytes. */
async function* upTo(maxBytes: number, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let received = 0;
  for await (const chunk of body) {
    received += chunk.length;
    if (received > maxBytes) throw new Error(`the answer is larger than ${maxBytes / mebibyte} MiB`);
    yield chunk;
  }
}
