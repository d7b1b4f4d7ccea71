import type { Group } from "../../domain/chats/group.ts";
import { containerUser } from "./container-user.ts";
import { judgeMounts, readMountTable } from "./rules.ts";
import type { MountContext, MountGrant, MountVerdict } from "./rules.ts";
import { refuseShared } from "./sharing.ts";
import { isWithin } from "../../lib/files/paths.ts";
import type { OtherGrants } from "./sharing.ts";
import type { ContainerUser } from "../profile/profile.ts";

/** A container's folders, and the user that they require. */
export interface GroupMounts {
  /** One for each request, in order, after the owners of writable folders were looked at. */
  readonly verdicts: readonly MountVerdict[];
  readonly granted: readonly MountGrant[];
  readonly user: ContainerUser;
}

/** A group with what it asks for. */
type Asking = Pick<Group, "name" | "mounts">;

/**
 * Judges what a group asks for: each mount by itself, then against what all other groups of the configuration could get
 * at best, then the owners of writable ones. Whatever starts a container or tells of one asks here.
 */
export async function judgeGroupMounts(
  group: Asking,
  all: readonly Asking[],
  options: { readonly context: MountContext; readonly ordinal: number; readonly instance: string },
): Promise<GroupMounts> {
  const { context, ordinal, instance } = options;
  const judged = await judgeMounts(group.mounts, context);
  const others = judged.some(isGranted) ? await grantsOfOthers(group, all, context) : [];
  const apart = await refuseShared(judged, others, await readMountTable(context));
  return settleMounts(apart, { ordinal, instance, hostUid: context.hostUid });
}

async function grantsOfOthers(group: Asking, all: readonly Asking[], context: MountContext): Promise<OtherGrants[]> {
  const others = all.filter(({ name, mounts }) => name !== group.name && mounts.length > 0);
  return Promise.all(
    others.map(async ({ name, mounts }) => {
      const verdicts = await judgeMounts(mounts, { ...context, withoutContents: true });
      return { group: name, granted: verdicts.filter(isGranted) };
    }),
  );
}

function isGranted(verdict: MountVerdict): verdict is MountGrant {
  return verdict.verdict !== "denied";
}

/**
 * Chooses the container's user from the granted folders. A writable folder that the user cannot own (root's, or of
 * another user than another one) is denied with a command that helps, because the agent's files there would change
 * owner.
 */
export function settleMounts(
  judged: readonly MountVerdict[],
  group: { readonly ordinal: number; readonly instance: string; readonly hostUid: number },
): GroupMounts {
  const verdicts: MountVerdict[] = [];
  const granted: MountGrant[] = [];
  for (const verdict of judged.map((each) => refuseUnreviewed(each, judged))) {
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
        fix: choice.fix,
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

/** Denies a mount with review whose folder another mount of the group writes at once, or a part of it. */
function refuseUnreviewed(verdict: MountVerdict, all: readonly MountVerdict[]): MountVerdict {
  if (verdict.verdict !== "review") return verdict;
  const { source, target, realPath } = verdict;
  const other = all.find(
    (each) => each.verdict === "rw" && (isWithin(each.realPath, realPath) || isWithin(realPath, each.realPath)),
  );
  if (other === undefined) return verdict;
  const reason = `Denied: the mount ${other.target} writes in ${realPath} without review.`;
  return { source, target, verdict: "denied", rule: "review", reason };
}
