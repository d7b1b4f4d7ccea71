import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";

import type { Destination, InjectedSecret } from "../../../domain/sandbox/egress.ts";
import type { SecretMask } from "../secrets/secret-mask.ts";

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
 * Builds the upstream headers: the agent's without the connection's, with secrets replacing whatever the agent put
 * there. Framing follows the real body.
 */
export function requestHeaders(
  incoming: IncomingMessage,
  { host, port }: Destination,
  secrets: { readonly known: readonly InjectedSecret[]; readonly added: readonly InjectedSecret[] },
): OutgoingHttpHeaders {
  const ended = new Set([...hopByHop, ...withheld, ...connectionNames(incoming)]);
  // Also where no secret is added: it is not the agent's place.
  for (const { header } of secrets.known) ended.add(header);
  const kept = headerLists(incoming).filter(([name]) => !ended.has(name));
  const headers: OutgoingHttpHeaders = Object.fromEntries(kept);
  headers["host"] = port === 443 ? host : `${host}:${port}`;
  headers["accept-encoding"] = "identity";
  headers["connection"] = "close";
  const length = incoming.headers["content-length"];
  if (incoming.headers["transfer-encoding"] !== undefined) headers["transfer-encoding"] = "chunked";
  else if (length !== undefined) headers["content-length"] = length;
  for (const { header, format, value } of secrets.added) headers[header] = format.replace("{}", () => value);
  return headers;
}

/** Builds the response head without the connection's own headers and without the secret. */
export function responseHead(
  answer: IncomingMessage,
  mask: SecretMask,
): { readonly message: string; readonly headers: OutgoingHttpHeaders } {
  const ended = new Set([...hopByHop, ...connectionNames(answer)]);
  const kept = headerLists(answer).filter(([name]) => !ended.has(name));
  const lines = kept.flatMap(([name, values]) => values.map((value) => [name, value]));
  const [message = "", ...texts] = mask.texts([answer.statusMessage ?? "", ...lines.flat()]);
  // Once more without the names: a secret may be spread over several values.
  const values = mask.texts(texts.filter((_, index) => index % 2 === 1));
  const headers = new Map<string, string[]>();
  for (const [line, value] of values.entries()) {
    const name = texts[2 * line] ?? "";
    headers.set(name, [...(headers.get(name) ?? []), value]);
  }
  return { message, headers: Object.fromEntries(headers) };
}

function headerLists(message: IncomingMessage): [string, string[]][] {
  return Object.entries(message.headersDistinct).map(([name, values]) => [name, values ?? []]);
}

/** A `Connection` header names others that end here, too. */
function connectionNames(message: IncomingMessage): Set<string> {
  return new Set((message.headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
}
