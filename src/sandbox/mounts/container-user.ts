import { createHash } from "node:crypto";

import type { MountGrant } from "./rules.ts";
import type { ContainerUser } from "../profile/profile.ts";
import { shellQuoted } from "../../lib/files/paths.ts";

/**
 * Own user ids begin above those that systems hand out to people (up to 60000) and to the first containers of other
 * engines (100000 to 165535 and on); they end below 2^31, above which some engines misread an id as root.
 */
const lowest = 300_000;
const blockSize = 1_000;
const blocks = 1_999_000;

export interface ContainerUserWish {
  /** The group's number in this installation, from 0; never given to another group. */
  readonly ordinal: number;
  /** The installation's id. */
  readonly instance: string;
  readonly grantedMounts: readonly MountGrant[];
  readonly hostUid: number;
}

/** `refused`: a whole sentence, and a command that helps. */
export type ContainerUserChoice = { readonly user: ContainerUser } | { readonly refused: string; readonly fix: string };

/**
 * The user that a group's container runs as. Normally one of the group's own, because the kernel budgets inotify
 * watches and more per user, not per container, and because its files are then told apart. With mounts that are
 * writable, at once or with review, it must be their owner, or the agent could not write there; files of root or of
 * several owners are refused.
 */
export function containerUser({ ordinal, instance, grantedMounts, hostUid }: ContainerUserWish): ContainerUserChoice {
  const writable = grantedMounts.filter((mount) => mount.verdict !== "ro");
  const [first] = writable;
  if (first === undefined) {
    const uid = ownUid(ordinal, instance, hostUid);
    return { user: { uid, gid: uid } };
  }

  const owner = writable.find((mount) => mount.uid !== 0) ?? { uid: hostUid === 0 ? 1000 : hostUid, gid: 0 };
  const wanted = { uid: owner.uid, gid: owner.gid === 0 ? owner.uid : owner.gid };
  const foreign = writable.find((mount) => mount.uid !== wanted.uid);
  if (foreign === undefined) return { user: wanted };

  const fix = `chown -R ${wanted.uid}:${wanted.gid} ${shellQuoted(foreign.realPath)}`;
  const refused =
    foreign.uid === 0
      ? `${foreign.realPath} belongs to root, and no agent runs as root; give it to another user or mount it read-only.`
      : `${foreign.realPath} belongs to uid ${foreign.uid} and another writable mount of the group to uid ${wanted.uid}; they must have one owner.`;
  return { refused, fix };
}

function ownUid(ordinal: number, instance: string, hostUid: number): number {
  const block = createHash("sha256").update(instance).digest().readUInt32BE(0) % blocks;
  const base = lowest + block * blockSize;
  const uid = base + ordinal;
  // Leaves the host's own id out, and still gives each ordinal another number.
  return hostUid >= base && hostUid <= uid ? uid + 1 : uid;
}
