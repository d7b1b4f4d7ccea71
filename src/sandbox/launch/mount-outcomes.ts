import type { EventData } from "../../domain/events/event.ts";
import { AppError } from "../../lib/app-error.ts";
import { recheckMount } from "../mounts/identity.ts";
import type { MountGrant, MountVerdict } from "../mounts/rules.ts";

/** A verdict as it is put on record. */
export function describeVerdict(verdict: MountVerdict): EventData["mounts.judged"]["mounts"][number] {
  const { source, target, reason } = verdict;
  const secrets = verdict.verdict === "denied" ? undefined : verdict.secrets;
  return { source, target, verdict: verdict.verdict, reason, ...(secrets?.length ? { secrets } : {}) };
}

/** Returns what the operator should know about a verdict. */
export function warningsOf(verdict: MountVerdict): string[] {
  const { target, reason } = verdict;
  if (verdict.verdict === "denied") return [`mount refused: ${target}: ${reason}`];
  return (verdict.secrets ?? []).length > 0 ? [`mount ${target}: ${reason}`] : [];
}

/**
 * Throws `mount_denied` when the engine did not find a folder that was there when it was judged, and may be there again
 * by now.
 */
export function refuseMissingMount(granted: readonly MountGrant[], cause: AppError): void {
  const missing = granted.find(({ realPath }) => cause.message.includes(`source path does not exist: ${realPath}`));
  if (!missing) return;
  const { realPath } = missing;
  throw new AppError("mount_denied", `The mount source ${realPath} has changed since it was judged: it was gone.`, {
    cause,
  });
}

/** Throws `mount_denied` when a granted folder is no longer the one that was judged. */
export async function refuseChangedMounts(granted: readonly MountGrant[], cause?: unknown): Promise<void> {
  for (const mount of granted) {
    const change = await recheckMount(mount);
    if (change !== undefined) throw new AppError("mount_denied", change, { cause });
  }
}
