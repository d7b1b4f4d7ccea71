import { isIP } from "node:net";

import { ToolError } from "../../protocol/tools.ts";

/** Parses an address from a model. Throws ToolError for unsupported ones. */
export function parseAddress(text: string): URL {
  const url = URL.parse(text);
  if (!url) throw new ToolError(`${quoted(text)} is no address. Write it whole, such as https://example.org/page.`);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new ToolError(`${quoted(text)} cannot be fetched: only http and https addresses can.`);
  if (url.username !== "" || url.password !== "")
    throw new ToolError("An address with a name or a password in it is not fetched. Leave them out.");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // 0x7f.1 and 2130706433 are the address 127.0.0.1, for some programs and not for others.
  if (isIP(host) !== 0 && !writtenHost(text).includes(host))
    throw new ToolError(`The host of ${quoted(text)} is an address in an unusual spelling. Write ${host}.`);
  url.hash = "";
  return url;
}

function writtenHost(text: string): string {
  return /^\s*[a-z]+:[/\\]*([^/\\?#]*)/i.exec(text)?.[1]?.toLowerCase() ?? "";
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}

/** Address for records: without its query, which may be secret. */
export function withoutQuery(url: URL): string {
  const plain = `${url.origin}${url.pathname}`;
  return plain.length > 500 ? `${plain.slice(0, 500)}…` : plain;
}
