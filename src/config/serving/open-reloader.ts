import { lstat } from "node:fs/promises";

import type { Logger } from "pino";

import type { Publish } from "../../domain/events/event.ts";
import { hostUid } from "../../lib/process/host-uid.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { readAllowlist } from "../../sandbox/mounts/allowlist.ts";
import { hashOfConfig } from "../changes/config-hash.ts";
import { type AppliedChange, ConfigReloader } from "../changes/config-reloader.ts";
import type { SettingsHistory } from "../changes/settings-history.ts";
import { checkChangedConfig, type ConfigCheck, describeWarning, type LoadedConfig } from "../loading/load.ts";
import type { RunningConfig } from "./running-config.ts";
import type { ServedGroups } from "./served-groups.ts";

interface ReloaderOptions {
  /** The settings with which the host was started. */
  readonly loaded: Pick<LoadedConfig, "fromFile" | "announcements" | "warnings">;
  readonly groups: ServedGroups;
  readonly history: SettingsHistory;
  /** Ends containers that are not what their group gets now. */
  readonly reviewContainers: () => Promise<void>;
  /** Sends a notice to the operator in a chat. */
  readonly tell: (text: string) => void;
  readonly publish: Publish;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/** Makes what lets changed files take effect in the running host. It watches no files. */
export function createReloader(running: RunningConfig, options: ReloaderOptions): ConfigReloader {
  const { reviewContainers, publish, tell, clock, logger } = options;
  return new ConfigReloader({
    running: () => running.live.current,
    readConfig: createReader(running, options),
    readMounts: () => mountsFault(running),
    apply: createApply(running, options),
    reviewContainers,
    publish,
    tell,
    clock,
    logger,
  });
}

/** Reads config.yaml. A file that was there once must stay there. */
function createReader(
  { home, environment, adapters }: RunningConfig,
  { loaded, groups }: ReloaderOptions,
): () => Promise<ConfigCheck> {
  let { fromFile } = loaded;
  return async () => {
    const check = await checkChangedConfig(home.paths.config, environment.variables, { adapters, fromFile });
    if (check.ok) ({ fromFile } = check.loaded);
    return groups.check(check);
  };
}

async function mountsFault({ home, environment }: RunningConfig): Promise<string | undefined> {
  const path = home.paths.mounts;
  if ((await lstat(path).catch(() => undefined)) === undefined) return undefined;
  const allowlist = await readAllowlist({ path, homeFolder: environment.userHome, hostUid: hostUid() });
  return allowlist.state === "unusable" ? allowlist.reason : undefined;
}

function createApply(
  { redaction }: RunningConfig,
  { loaded: started, groups, history, publish, logger }: ReloaderOptions,
): (change: AppliedChange, loaded: LoadedConfig) => Promise<void> {
  const said = new Set(notesOf(started));
  return async ({ effective, now: changed, restart, by, changes }, loaded) => {
    const { secrets, fromFile } = loaded;
    // Before anything uses them, and also those that wait for a restart.
    redaction.add(secrets);
    const added = await groups.reconfigure({ config: effective, added: loaded.added }, async () => {
      const data = { sha256: hashOfConfig(effective), fromFile, changed, restart };
      await publish({ type: "config.applied", actor: by.actor, data });
      const inEffect = changes.filter(({ applies }) => applies !== "restart");
      await history.record({ config: effective, by, changes: inEffect });
    });
    logger.info({ changed, restart }, "a changed configuration is applied");
    for (const text of notesOf(loaded)) if (!said.has(text)) logger.warn(text);
    for (const text of notesOf(loaded)) said.add(text);
    await groups.welcome(added);
  };
}

function notesOf({ announcements, warnings }: Pick<LoadedConfig, "announcements" | "warnings">): string[] {
  return [...announcements, ...warnings.map(describeWarning)];
}
