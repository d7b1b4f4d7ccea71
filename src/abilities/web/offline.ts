import type { GroupWeb, SearchSettings } from "../../domain/settings/web.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import { AddressGuard, placeOf, type ResolveHost } from "../../lib/http/address-guard.ts";
import { ToolError } from "../../protocol/tools.ts";
import { fetchBytes } from "./fetch-bytes.ts";
import { parseAddress } from "./page-address.ts";
import { searchAddress } from "./search/search-web.ts";

/** Returns why a group may not fetch from this address; undefined when it may. Resolves names, but requests nothing. */
export async function whyRefused(
  address: string,
  { fetch, allow }: Pick<GroupWeb, "fetch" | "allow">,
  resolve?: ResolveHost,
): Promise<string | undefined> {
  if (fetch === "off") return "web.fetch is off for this group.";
  const guard = new AddressGuard({ allowPrivate: allow, allowPorts: [], onlyListed: fetch === "allowlist", resolve });
  try {
    const url = parseAddress(address);
    guard.check(url);
    const { promise, resolve: found, reject } = Promise.withResolvers<void>();
    guard.lookupFor(url)(url.hostname.replace(/^\[|\]$/g, ""), { all: true }, (error) => {
      if (error) reject(error);
      else found();
    });
    await promise;
    return undefined;
  } catch (error) {
    if (error instanceof ToolError || error instanceof AppError) return error.message;
    return `${new URL(address).hostname} cannot be looked up: ${toError(error).message}`;
  }
}

/** Asks whether the search provider can be reached, whatever it answers. Rejects with why not. */
export async function reachSearch(settings: SearchSettings, ms: number): Promise<void> {
  const place = searchAddress(settings);
  const init = { method: "HEAD", redirect: "manual", signal: new AbortController().signal } as const;
  await fetchBytes(place, init, { pageMs: ms, allowPrivate: [placeOf(place)], onlyListed: true });
}
