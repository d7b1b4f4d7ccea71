import type { Logger } from "pino";

import type { ContainerLauncher } from "./launcher.ts";

/** Judges the mounts of the configured groups, and warns of those that are refused now and were not before. */
export async function reviewMounts(
  launcher: Pick<ContainerLauncher, "judgeMounts" | "refusedMounts">,
  logger: Logger,
): Promise<void> {
  const before = new Set(launcher.refusedMounts().map((mount) => JSON.stringify(mount)));
  await launcher.judgeMounts();
  for (const mount of launcher.refusedMounts()) {
    if (before.has(JSON.stringify(mount))) continue;
    const { group, target, reason } = mount;
    logger.warn({ group, target }, `mount ${target} of group ${group} is refused: ${reason}`);
  }
}
