import { stat } from "node:fs/promises";
import { dirname } from "node:path";

import type { MountGrant, MountVerdict } from "./rules.ts";
import { isWithin } from "../../lib/files/paths.ts";
import { otherPathsOf, type MountPoint } from "../../lib/files/mount-points.ts";

/** Mounts that another group would get. */
export interface OtherGrants {
  readonly group: string;
  readonly granted: readonly MountGrant[];
}

/** A folder with everything that it can be known by. */
interface Place {
  readonly grant: MountGrant;
  /** Visible paths. */
  readonly paths: readonly string[];
  /** `device:inode` of it and of the folders above it. */
  readonly chain: readonly string[];
}

/**
 * Denies what another group gets as well, or lies in or around what it gets, when either of them may write there: the
 * groups would share a user and could plant files for each other. Both mounts can say that this is meant (`shared`).
 */
export async function refuseShared(
  verdicts: readonly MountVerdict[],
  others: readonly OtherGrants[],
  mounts: readonly MountPoint[],
): Promise<MountVerdict[]> {
  const found: MountVerdict[] = [];
  const theirs = await Promise.all(
    others.map(async ({ group, granted }) => ({
      group,
      places: await Promise.all(granted.map((grant) => placeOf(grant, mounts))),
    })),
  );
  for (const verdict of verdicts) {
    const reason = verdict.verdict === "denied" ? undefined : sharedWith(await placeOf(verdict, mounts), theirs);
    const { source, target } = verdict;
    if (reason === undefined) found.push(verdict);
    else found.push({ source, target, verdict: "denied", rule: "shared", reason: `Denied: ${reason}` });
  }
  return found;
}

function sharedWith(
  place: Place,
  others: readonly { readonly group: string; readonly places: readonly Place[] }[],
): string | undefined {
  for (const { group, places } of others) {
    const other = places.find((candidate) => isConflict(place, candidate));
    if (other === undefined) continue;
    const [own, their] = [place.grant, other.grant];
    const what = own.realPath === their.realPath ? own.realPath : `${own.realPath} (with ${their.realPath})`;
    return `${what} is also a mount of the group ${group}, and one of them may write there. Give each group its own folder, or write shared: true at both mounts.`;
  }
  return undefined;
}

function isConflict(one: Place, other: Place): boolean {
  if (one.grant.verdict !== "rw" && other.grant.verdict !== "rw") return false;
  if (one.grant.shared === true && other.grant.shared === true) return false;
  return isInside(one, other) || isInside(other, one);
}

function isInside(inner: Place, outer: Place): boolean {
  const { device, inode } = outer.grant;
  if (inner.chain.includes(`${device}:${inode}`)) return true;
  return inner.paths.some((path) => outer.paths.some((folder) => isWithin(path, folder)));
}

async function placeOf(grant: MountGrant, mounts: readonly MountPoint[]): Promise<Place> {
  const chain = [`${grant.device}:${grant.inode}`];
  for (let path = grant.realPath; path !== "/";) {
    path = dirname(path);
    const facts = await stat(path, { bigint: true }).catch(() => undefined);
    if (facts !== undefined) chain.push(`${facts.dev}:${facts.ino}`);
  }
  return { grant, paths: [grant.realPath, ...otherPathsOf(grant.realPath, mounts)], chain };
}
