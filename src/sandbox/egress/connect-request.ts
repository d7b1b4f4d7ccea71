import { parseDestination } from "../../domain/sandbox/egress.ts";
import type { Destination } from "../../domain/sandbox/egress.ts";

/** Longest request that is read, in bytes, the empty line at its end included. */
export const maxRequestBytes = 8 * 1024;

export type ConnectRequest =
  | { readonly ok: true; readonly destination: Destination }
  | {
      readonly ok: false;
      readonly status: 400 | 405;
      readonly rule: string;
      readonly detail: string;
    };

const requestLine = /^([A-Za-z]{1,32}) ([\x21-\x7e]{1,2048}) HTTP\/1\.[01]$/;
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}):[ \t]*([\x20-\x7e\t]*)$/;

/**
 * Reads a whole `CONNECT host:port HTTP/1.1` request, up to and including its empty line, given as latin1. Lines end
 * with CR LF and nothing else; a target that is not exactly `host:port`, headers that announce a body, and a `Host`
 * that names another place are refused: nothing is repaired.
 */
export function parseConnectRequest(text: string): ConnectRequest {
  if (!text.endsWith("\r\n\r\n")) return malformed("the request does not end with an empty line");
  const [first = "", ...headers] = text.slice(0, -4).split("\r\n");
  const [, method, target] = requestLine.exec(first) ?? [];
  if (method === undefined || target === undefined) return malformed("the request line is not METHOD target HTTP/1.1");
  if (method !== "CONNECT") return wrongMethod(method, target);
  const destination = parseDestination(target);
  if (!destination) {
    return refusal("grammar", "the target must be a lower-case host name and a port, such as registry.example:443");
  }
  const fault = headerFault(headers, target, destination.host);
  return fault === undefined ? { ok: true, destination } : malformed(fault);
}

function headerFault(headers: readonly string[], target: string, host: string): string | undefined {
  const seen = new Set<string>();
  for (const line of headers) {
    const [, name, value] = headerLine.exec(line) ?? [];
    if (name === undefined || value === undefined) return "a header line is malformed";
    const key = name.toLowerCase();
    if (["content-length", "transfer-encoding", "upgrade"].includes(key)) return `the header ${key} is not allowed`;
    if (key === "host") {
      if (seen.has(key)) return "there are two Host headers";
      if (![target, host].includes(value.trim())) return "the Host header names another place than the target";
    }
    seen.add(key);
  }
  return undefined;
}

function wrongMethod(method: string, target: string): ConnectRequest {
  const plain = target.startsWith("http://") ? " Plain http:// is not forwarded: use https://." : "";
  return {
    ok: false,
    status: 405,
    rule: "method",
    detail: `only CONNECT is answered here, not ${method.toUpperCase()}.${plain}`,
  };
}

function malformed(detail: string): ConnectRequest {
  return refusal("malformed", detail);
}

function refusal(rule: string, detail: string): ConnectRequest {
  return { ok: false, status: 400, rule, detail };
}
