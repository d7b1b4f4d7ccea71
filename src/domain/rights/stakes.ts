import type { GroupNetwork } from "../sandbox/egress.ts";
import type { MountRequest } from "../chats/group.ts";

/** Things beyond the group's own folder that a command of its agent could harm or give away. */
export interface Stakes {
  /** A folder of the machine that the agent changes at once. */
  readonly writableMount: boolean;
  readonly egress: boolean;
  readonly injectedSecrets: boolean;
}

export const nothingAtStake: Stakes = { writableMount: false, egress: false, injectedSecrets: false };

/** `network`: the group's, as it is configured. */
export function stakesOf(
  mounts: readonly Pick<MountRequest, "access">[],
  network: Pick<GroupNetwork, "allow" | "secrets">,
): Stakes {
  return {
    writableMount: mounts.some(({ access }) => access === "rw"),
    egress: network.allow.length > 0,
    injectedSecrets: network.secrets.length > 0,
  };
}
