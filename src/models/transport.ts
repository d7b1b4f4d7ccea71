import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { Readable } from "node:stream";

import { mebibyte } from "../lib/text/bytes.ts";

/** More than the longest answer of any model as server-sent events; what goes beyond is not an answer. */
const maxResponseBytes = 128 * mebibyte;

/** An event is one line, and is decoded and parsed in one go: a larger one keeps the whole host waiting. */
const maxLineBytes = 2 * mebibyte;

/** The other side said nothing for too long. */
export class SilenceError extends Error {
  override readonly name = "SilenceError";

  constructor(silenceMs: number) {
    super(`nothing was received for ${silenceMs / 1000} s`);
  }
}

export type Transport = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * The `fetch` that vendors' SDKs are given. Exactly the given headers are sent, whatever the SDK or its environment variables
 * add; redirects are not followed; a connection on which nothing moves for `silenceMs` is ended with SilenceError, before the
 * headers and between any two chunks (Node's own fetch gives up after 300 s and cannot be told otherwise).
 */
export function createTransport(options: { headers: Readonly<Record<string, string>>; silenceMs: number }): Transport {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const body = bodyOf(init);
    const request = (url.protocol === "https:" ? https : http).request(url, {
      method: init.method ?? "GET",
      headers: { "user-agent": "crabpot", ...options.headers, ...headersFor(body) },
      timeout: options.silenceMs,
      ...(init.signal ? { signal: init.signal } : {}),
    });
    let response: http.IncomingMessage | undefined;
    // Without a listener an error that comes after the response would end the process; the body's reader gets it as well.
    request.on("error", () => undefined);
    request.on("timeout", () => (response ?? request).destroy(new SilenceError(options.silenceMs)));
    request.end(body);
    [response] = (await once(request, "response")) as [http.IncomingMessage];
    return toResponse(response);
  };
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

function toResponse(response: http.IncomingMessage): Response {
  let received = 0;
  let line = 0;
  response.on("data", (chunk: Buffer) => {
    received += chunk.length;
    const lineEnd = chunk.lastIndexOf("\n");
    line = lineEnd === -1 ? line + chunk.length : chunk.length - lineEnd - 1;
    if (line > maxLineBytes)
      response.destroy(new Error(`a line of the answer is larger than ${maxLineBytes / mebibyte} MiB`));
    if (received > maxResponseBytes)
      response.destroy(new Error(`the answer is larger than ${maxResponseBytes / mebibyte} MiB`));
  });
  const status = response.statusCode ?? 502;
  const hasBody = ![204, 205, 304].includes(status);
  const headers = new Headers();
  for (const [name, values] of Object.entries(response.headersDistinct))
    for (const value of values ?? []) headers.append(name, value);
  return new Response(hasBody ? (Readable.toWeb(response) as ReadableStream) : null, { status, headers });
}
