import type { Destination } from "../../../domain/sandbox/egress.ts";
import { AppError } from "../../../lib/app-error.ts";
import { rejectAt } from "../../../lib/time/reject-at.ts";

/** All addresses of a host name. What it throws as an `AppError` is for the agent to read. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Name resolution, and the addresses that may be connected to. */
export interface AddressRules {
  readonly resolve: Resolve;
  readonly mayConnect: (address: string, destination: Destination) => boolean;
}

export type PinnedAddress =
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly rule: "dns" | "private-address"; readonly detail: string };

/**
 * Resolves a name once and returns the address to connect to. One forbidden address among the answers refuses the name.
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
