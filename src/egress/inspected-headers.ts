import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";

import type { Destination, InjectedSecret } from "../domain/egress.ts";
import type { SecretMask } from "./secret-mask.ts";

/** Those that belong to one connection and are made anew for the next one. */
const hopByHop = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** A part of an answer could hold half of a secret; a compressed one cannot be looked through. */
const withheld = new Set(["host", "expect", "range", "if-range", "accept-encoding", "content-length"]);

/**
 * What goes upstream: the agent's headers without those of the connection, with the secrets in the places of whatever the
 * agent had put there. Framing is made anew from how the body was really framed.
 */
export function requestHeaders(
  incoming: IncomingMessage,
  { host, port }: Destination,
  secrets: readonly InjectedSecret[],
): OutgoingHttpHeaders {
  const named = connectionNames(incoming);
  const kept = headerLists(incoming).filter(([name]) => !hopByHop.has(name) && !withheld.has(name) && !named.has(name));
  const headers: OutgoingHttpHeaders = Object.fromEntries(kept);
  headers["host"] = port === 443 ? host : `${host}:${port}`;
  headers["accept-encoding"] = "identity";
  headers["connection"] = "close";
  const length = incoming.headers["content-length"];
  if (incoming.headers["transfer-encoding"] !== undefined) headers["transfer-encoding"] = "chunked";
  else if (length !== undefined) headers["content-length"] = length;
  for (const { header, format, value } of secrets) headers[header] = format.replace("{}", () => value);
  return headers;
}

/** What comes back, without the connection's own headers and without the secret. */
export function responseHeaders(answer: IncomingMessage, mask: SecretMask): OutgoingHttpHeaders {
  const named = connectionNames(answer);
  const kept = headerLists(answer).filter(([name]) => !hopByHop.has(name) && !named.has(name));
  return Object.fromEntries(kept.map(([name, values]) => [mask.text(name), values.map((value) => mask.text(value))]));
}

function headerLists(message: IncomingMessage): [string, string[]][] {
  return Object.entries(message.headersDistinct).map(([name, values]) => [name, values ?? []]);
}

/** A `Connection` header names others that end here, too. */
function connectionNames(message: IncomingMessage): Set<string> {
  return new Set((message.headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
}
