import type { GroupNetwork } from "../../domain/sandbox/egress.ts";
import type { Config } from "../schema/config.ts";
import { entryOf } from "./entry.ts";

/** Network of a group's containers; by default `sandbox.network`. */
export function networkOf(config: Config, name: string): GroupNetwork {
  const group = entryOf(config, name);
  return toNetwork(group?.network ?? config.sandbox.network, group?.secrets ?? {});
}

/** Destinations that `network` and `secrets` of config.yaml allow. */
export function toNetwork(
  network: Config["sandbox"]["network"],
  given: Config["groups"][string]["secrets"],
): GroupNetwork {
  const secrets = Object.entries(given).map(([secret, fields]) => ({ name: secret, ...fields }));
  const { allow, allowPrivate } = network === "none" ? { allow: [], allowPrivate: [] } : network;
  const entries = allow.map((entry) => (typeof entry === "string" ? { host: entry, reflects: false } : entry));
  // An entry may be there twice: what one of them says about what comes back counts.
  const reflects = entries.filter((entry) => entry.reflects).map((entry) => entry.host);
  return { allow: [...new Set(entries.map((entry) => entry.host))], allowPrivate, reflects, secrets };
}

/**
 * Groups that may have written to a folder of the machine that this one has, too. Whether two names lead to the same
 * folder is known
 * only where they are mounted, so all count that have a shared folder which they may write to.
 */
export function writersOfShared({ groups }: Pick<Config, "groups">, name: string): readonly string[] {
  const own = entryOf({ groups }, name);
  if (own?.mounts.some(({ shared }) => shared) !== true) return [];
  return Object.entries(groups).flatMap(([other, { mounts }]) =>
    other !== name && mounts.some(({ shared, access }) => shared && access === "rw") ? [other] : [],
  );
}
