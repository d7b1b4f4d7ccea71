import { lstat } from "node:fs/promises";

import { hashOfConfig } from "../../config/changes/config-hash.ts";
import { type AppliedChange, ConfigReloader } from "../../config/changes/config-reloader.ts";
import { ConfigWatch } from "../../config/changes/config-watch.ts";
import { withAddedGroups } from "../../config/added-groups.ts";
import { configuredGroups } from "../../config/groups.ts";
import { checkChangedConfig, type ConfigCheck, describeWarning, type LoadedConfig } from "../../config/loading/load.ts";
import type { Config } from "../../config/schema/config.ts";
import type { Group } from "../../domain/chats/group.ts";
import { toError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { mainSessionsOf, type SessionQueue } from "../../work/queue/session-queue.ts";
import { readAllowlist } from "../../sandbox/mounts/allowlist.ts";
import type { SessionPool } from "../../sandbox/pool/pool.ts";
import type { TellOperator } from "../../delivery/operator-notices.ts";
import type { ChatBook } from "../../intake/chats/chat-book.ts";
import { reviewMounts } from "../containers/containers.ts";
import type { Images } from "../containers/images.ts";
import { type AppContext, hostUid } from "../context.ts";
import { type Groups, takeFolders, warnOfShadowed } from "../groups.ts";
import type { Interventions } from "../turns/interventions.ts";
import { recordSettings } from "./settings-history.ts";

export interface ReloadOptions extends Groups {
  /** What the host was started with. */
  readonly loaded: Pick<LoadedConfig, "fromFile" | "announcements" | "warnings">;
  /** Whoever sits at it; undefined: nobody. */
  readonly console: object | undefined;
  readonly containers: {
    readonly pool: Pick<SessionPool, "endOutdated">;
    readonly launcher: Parameters<typeof reviewMounts>[1];
    readonly images: Pick<Images, "review">;
  };
  readonly chats: Pick<ChatBook, "registered">;
  readonly interventions: Pick<Interventions, "catchUp">;
  readonly queue: Pick<SessionQueue, "wake">;
  readonly tell: TellOperator;
}

/** How much is logged. Who sits at a console sees the chat and what is wrong, and the rest only if it was asked for. */
export function logLevel({ log }: Pick<Config, "log">, hasConsole: boolean): Config["log"]["level"] {
  return hasConsole && log.level === "info" ? "warn" : log.level;
}

/** Lets changed files take effect in the running host, by itself and when it is asked to. */
export function openReloader(context: AppContext, stack: AsyncDisposableStack, options: ReloadOptions): ConfigReloader {
  const { live, home, publish, clock, logger } = context;
  followLogLevel(context, options.console !== undefined);
  const reloader = stack.use(
    new ConfigReloader({
      running: () => live.current,
      readConfig: createReader(context, options),
      readMounts: () => mountsFault(context),
      apply: createApply(context, options),
      reviewContainers: () => reviewContainers(context, options),
      publish,
      tell: (text) => options.tell({ text }),
      clock,
      logger,
    }),
  );
  const files = [home.paths.config, home.paths.mounts];
  stack.use(new ConfigWatch({ files, changed: () => void reloader.reloadSoon(), logger }));
  return reloader;
}

/**
 * Ends containers that are not what their group would get now, begins to build images that it will get, and tells of
 * mounts that are refused.
 */
export async function reviewContainers(
  context: Pick<AppContext, "logger">,
  { containers, groups }: Pick<ReloadOptions, "containers"> & { readonly groups: Pick<Groups["groups"], "byName"> },
): Promise<void> {
  await containers.images.review();
  containers.pool.endOutdated((name) => groups.byName(name));
  await reviewMounts(context, containers.launcher);
}

/** A file that was there once has to stay there. */
function createReader(context: AppContext, options: ReloadOptions): () => Promise<ConfigCheck> {
  const { home, environment, adapters } = context;
  let { fromFile } = options.loaded;
  return async () => {
    const check = await checkChangedConfig(home.paths.config, environment.variables, { adapters, fromFile });
    if (check.ok) ({ fromFile } = check.loaded);
    return addGroups(context, options, check);
  };
}

/**
 * A file with which a stored group could not be served any more is not used. Those that are not served already do not
 * count.
 */
export function addGroups(
  { environment: { variables } }: Pick<AppContext, "environment">,
  { groups, unusable }: Pick<ReloadOptions, "groups" | "unusable">,
  check: ConfigCheck,
): ConfigCheck {
  if (!check.ok) return check;
  const left = new Set(groups.shadowed.map(({ name }) => name).filter((name) => !unusable.has(name)));
  const stored = groups.stored().filter(({ name }) => !left.has(name));
  const { config, added, secrets, refused } = withAddedGroups(check.loaded, stored, variables);
  const faults = [...refused].flatMap(([name, found]) => (unusable.has(name) ? [] : found));
  if (faults.length > 0) {
    const fix = `These groups were added at run time: change config.yaml, or the group with \`${ownCommand("groups set")}\`.`;
    return { ok: false, faults: faults.map((fault) => ({ ...fault, fix: fault.fix ?? fix })) };
  }
  return { ok: true, loaded: { ...check.loaded, config, added, secrets: [...check.loaded.secrets, ...secrets] } };
}

async function mountsFault({ home, environment }: AppContext): Promise<string | undefined> {
  const path = home.paths.mounts;
  if ((await lstat(path).catch(() => undefined)) === undefined) return undefined;
  const allowlist = await readAllowlist({ path, homeFolder: environment.userHome, hostUid: hostUid() });
  return allowlist.state === "unusable" ? allowlist.reason : undefined;
}

function createApply(
  context: AppContext,
  options: ReloadOptions,
): (change: AppliedChange, loaded: LoadedConfig) => Promise<void> {
  const { live, redaction, publish, logger } = context;
  const said = new Set(saidOf(options.loaded));
  return async ({ effective, now: changed, restart, by, changes }, loaded) => {
    const { secrets, fromFile } = loaded;
    // Before anything uses them, and also those that wait for a restart.
    redaction.add(secrets);
    const configured = configuredGroups(effective, loaded.added);
    for (const name of loaded.added ?? []) options.unusable.delete(name);
    await takeFolders(context, options.folders, configured);
    const shadowed = new Set(options.groups.shadowed);
    const { added } = await options.groups.reconfigure(configured, async () => {
      const data = { sha256: hashOfConfig(effective), fromFile, changed, restart };
      await publish({ type: "config.applied", actor: by.actor, data });
      await recordSettings(context, {
        config: effective,
        by,
        changes: changes.filter(({ applies }) => applies !== "restart"),
      });
      return () => live.replace(effective);
    });
    logger.info({ changed, restart }, "a changed configuration is applied");
    warnOfShadowed(
      logger,
      options.groups.shadowed.filter((group) => !shadowed.has(group)),
    );
    for (const text of saidOf(loaded)) if (!said.has(text)) logger.warn(text);
    for (const text of saidOf(loaded)) said.add(text);
    for (const group of added) await welcome(context, options, group);
  };
}

function saidOf({ announcements, warnings }: Pick<LoadedConfig, "announcements" | "warnings">): string[] {
  return [...announcements, ...warnings.map(describeWarning)];
}

/** A group of this name may have been here before and may have left something unanswered. */
async function welcome({ logger }: AppContext, options: ReloadOptions, group: Group): Promise<void> {
  try {
    await options.chats.registered(group);
    await options.interventions.catchUp(group);
  } catch (error) {
    logger.error({ err: toError(error), group: group.name }, "what waits in a new group could not be looked at");
  }
  for (const queued of mainSessionsOf(group)) options.queue.wake(queued);
}

function followLogLevel({ live, logger }: AppContext, hasConsole: boolean): void {
  let level = logLevel(live.current, hasConsole);
  live.onChange(() => {
    const wanted = logLevel(live.current, hasConsole);
    if (wanted !== level) logger.level = wanted;
    level = wanted;
  });
}
