import type { MountGrant, ReviewVolume } from "../mounts/rules.ts";

/** The layers of mounts with review, as containers need them. */
export interface LauncherReviews {
  /** Undefined, or why no mount with review can be had here, as a sentence. */
  fault(): Promise<string | undefined>;
  /** Finishes decisions in whose middle the host died. */
  finishAll(): Promise<void>;
  /** Whether something may have changed in the group's layers. To be asked before a turn as well. */
  mayHaveChanged(group: string): Promise<boolean>;
  /** True for a container that looks at a layer now. */
  isLooking(name: string): boolean;
  open(group: string, mount: MountGrant): Promise<ReviewVolume>;
  /** Keeps decisions about these mounts from beginning until disposed, and makes their volumes. */
  hold(group: string, mounts: readonly MountGrant[]): Promise<Disposable>;
  faults(group: string, mounts: readonly MountGrant[]): Promise<readonly string[]>;
}
