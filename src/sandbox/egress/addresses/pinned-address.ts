import type { Destination } from "../../../domain/sandbox/egress.ts";
import { AppError } from "../../../lib/app-error.ts";
import { rejectAt } from "../../../lib/time/reject-at.ts";

/** All addresses of a host name. What it throws as an `AppError` is for the agent to read. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** How names become addresses, and which addresses may be connected to. */
export interface AddressRules {
  readonly resolve: Resolve;
  readonly mayConnect: (address: string, destination: Destination) => boolean;
}

export type PinnedAddress =
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly rule: "dns" | "private-address"; readonly detail: string };

/**
 * Asks the resolver once. One address among the answers that must not be connected to is enough to refuse the name:
 * whoever mixes them wants us to choose wrongly. The address that is returned is the one to connect to.
 */
export async function pinAddress(
  destination: Destination,
  { resolve, mayConnect }: AddressRules,
  patience: AbortSignal,
): Promise<PinnedAddress> {
  const { host } = destination;
  let detail = `the name ${host} has no address`;
  const addresses = await Promise.race([resolve(host), rejectAt(patience)]).catch((error: unknown) => {
    if (error instanceof AppError) detail = error.message;
    return [];
  });
  const [address] = addresses;
  if (address === undefined) return { ok: false, rule: "dns", detail };
  if (!addresses.every((candidate) => mayConnect(candidate, destination))) {
    return {
      ok: false,
      rule: "private-address",
      detail: `${host} leads to an address that is not on the public internet`,
    };
  }
  return { ok: true, address };
}
