import type { GroupWeb } from "../../domain/settings/web.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import { AddressGuard, type ResolveHost } from "../../lib/http/address-guard.ts";
import { ToolError } from "../../protocol/tools.ts";
import { parseAddress } from "./page-address.ts";

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
