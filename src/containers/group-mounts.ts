import { containerUser } from "./container-user.ts";
import type { MountGrant, MountVerdict } from "./mount-rules.ts";
import type { ContainerUser } from "./profile.ts";

/** What a group's container gets: the folders, and the user that they make necessary. */
export interface GroupMounts {
  /** One for each request, in order, after the owners of writable folders were looked at. */
  readonly verdicts: readonly MountVerdict[];
  readonly granted: readonly MountGrant[];
  readonly user: ContainerUser;
}

/**
 * Chooses the user of a group's container from the folders that the mount rules grant. A writable folder that cannot be
 * given to that user (it belongs to root, or to somebody else than another writable one) is denied after all, with the
 * command that helps: a container must not start with files that its agent would turn into another user's.
 */
export function settleMounts(
  judged: readonly MountVerdict[],
  group: { readonly ordinal: number; readonly instance: string; readonly hostUid: number },
): GroupMounts {
  const verdicts: MountVerdict[] = [];
  const granted: MountGrant[] = [];
  for (const verdict of judged) {
    if (verdict.verdict === "denied") {
      verdicts.push(verdict);
      continue;
    }
    const choice = containerUser({ ...group, grantedMounts: [...granted, verdict] });
    if ("refused" in choice) {
      const { source, target } = verdict;
      verdicts.push({
        source,
        target,
        verdict: "denied",
        rule: "owner",
        reason: `Denied: ${choice.refused} Run: ${choice.fix}`,
      });
    } else {
      verdicts.push(verdict);
      granted.push(verdict);
    }
  }
  const choice = containerUser({ ...group, grantedMounts: granted });
  if ("refused" in choice)
    throw new TypeError(`unreachable: each of the granted mounts was accepted (${choice.refused})`);
  return { verdicts, granted, user: choice.user };
}
