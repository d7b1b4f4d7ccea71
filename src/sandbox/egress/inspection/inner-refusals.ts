import type { IncomingMessage, ServerResponse } from "node:http";

import type { Destination } from "../../../domain/sandbox/egress.ts";

/** Reason why an inspected request is refused. */
export interface InnerRefusal {
  readonly status: number;
  readonly rule: string;
  readonly detail: string;
}

/** Finds faults in a request for this destination that Node's parser lets through. */
export function findInnerRefusal(incoming: IncomingMessage, { host, port }: Destination): InnerRefusal | undefined {
  const { method = "", url = "", headers } = incoming;
  if (["TRACE", "TRACK", "CONNECT"].includes(method)) {
    return { status: 405, rule: "method", detail: `${method} would show the secret that is added` };
  }
  if (!url.startsWith("/") && url !== "*") {
    return { status: 400, rule: "grammar", detail: "the target must be a path" };
  }
  // Of two, Node shows the first one and the next server may read the other.
  if (headerCount(incoming, "host") > 1) return { status: 400, rule: "host", detail: "there are two Host headers" };
  if (headers.host !== host && headers.host !== `${host}:${port}`) {
    return { status: 421, rule: "host", detail: `the Host header must be ${host}` };
  }
  const coding = headers["transfer-encoding"] ?? "chunked";
  if (coding !== "chunked") {
    return { status: 400, rule: "malformed", detail: "the only Transfer-Encoding that is taken is chunked" };
  }
  return undefined;
}

/** An answer that is compressed on its way, in either of the two ways that HTTP has, cannot be searched for secrets. */
export function isCompressed({ headers }: IncomingMessage): boolean {
  const encoding = headers["content-encoding"]?.toLowerCase() ?? "identity";
  const coding = headers["transfer-encoding"]?.toLowerCase() ?? "chunked";
  return encoding !== "identity" || coding !== "chunked";
}

/**
 * Answers instead of the destination. The connection is closed after it: what is left of a refused request is nothing
 * to read on from.
 */
export function say(response: ServerResponse, { status, rule, detail }: InnerRefusal): void {
  const body = `crabpot: ${detail}.\n`;
  const headers = { "content-type": "text/plain; charset=utf-8", "x-crabpot-rule": rule, connection: "close" };
  response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
}

function headerCount({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}
