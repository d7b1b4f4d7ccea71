import { lstat } from "node:fs/promises";
import { join } from "node:path";

import { withAddedGroups } from "../config/added-groups.ts";
import { hasTrait } from "../config/adapters.ts";
import { ensureGroupFolder } from "../config/home/group-folders.ts";
import { configuredGroups, storedGroup } from "../config/groups.ts";
import { describeFault, describeWarning } from "../config/loading/load.ts";
import { findRenamedGroups } from "../config/checks/renamed-groups.ts";
import type { Group, GroupChat, StoredGroup } from "../domain/chats/group.ts";
import { type FormerChat, GroupFolders } from "../intake/chats/group-folders.ts";
import { type GroupRegistry, openGroupRegistry } from "../intake/chats/group-registry.ts";
import type { AppContext } from "./context.ts";
import { recordSettingsAtStart } from "./settings/settings-history.ts";

/** All groups, and whose their folders are. */
export interface Groups {
  readonly groups: GroupRegistry;
  readonly folders: GroupFolders;
  /** Stored groups that are not served because of what they say. */
  readonly unusable: Set<string>;
}

/**
 * Puts what stored groups say beside what config.yaml says. Returns those that say what cannot be used with it: they
 * are not served.
 */
async function addStoredGroups(
  { live, store, adapters, environment, redaction, logger }: Omit<AppContext, "metrics">,
  folders: GroupFolders,
): Promise<Set<string>> {
  const stored: StoredGroup[] = [];
  for (const group of await store.groups.list()) {
    if (!(await folders.isLost(group))) stored.push(group);
  }
  const { config, secrets, refused } = withAddedGroups(
    { config: live.current, adapters },
    stored,
    environment.variables,
  );
  redaction.add(secrets);
  live.replace(config);
  for (const [group, faults] of refused) {
    const why = faults.map(describeFault).join("; ");
    logger.error({ group, faults }, `the group ${group}, which was added at run time, is not served: ${why}`);
  }
  return new Set(refused.keys());
}

/**
 * Makes the folders of the configured groups. What config.yaml says of a folder that was another chat's holds, and is
 * told.
 */
export async function openGroups(context: Omit<AppContext, "metrics">): Promise<Groups> {
  const { config, store, logger } = context;
  const folders = openFolders(context);
  const configured = configuredGroups(config);
  await takeFolders(context, folders, configured);
  const unusable = await addStoredGroups(context, folders);
  const groups = await openGroupRegistry({
    configured,
    store: store.groups,
    prepare: (group, adopt) => folders.take(group, adopt),
    resolve: (group) => storedGroup(config, group),
    isLost: async (group) => unusable.has(group.name) || folders.isLost(group),
    hasTypedChats: (channel) => hasTrait(context, channel, "typedChats"),
  });
  warnOfShadowed(logger, groups.shadowed);
  await recordSettingsAtStart(context);
  return { groups, folders, unusable };
}

/** Makes the folders of configured groups, and tells of those that begin anew although their chat has a folder. */
export async function takeFolders(
  { store, home, logger }: Pick<AppContext, "store" | "home" | "logger">,
  folders: GroupFolders,
  configured: readonly Group[],
): Promise<void> {
  const known = await store.groups.folders();
  for (const group of configured) {
    const former = await folders.takeConfigured(group);
    if (!former) continue;
    const { name, channel, chat } = group;
    logger.warn(
      { group: name, from: former, to: { channel, chat } },
      "config.yaml gives the folder of a group, with all that is in it, to another chat than before",
    );
  }
  const isNew = (group: string): boolean => known.every(({ name }) => name !== group);
  const renamed = await findRenamedGroups({ configured, folders: known, place: home.paths.groups });
  for (const { group, warning } of renamed) if (isNew(group)) logger.warn(describeWarning(warning));
}

export function warnOfShadowed(logger: AppContext["logger"], shadowed: readonly GroupChat[]): void {
  for (const { name } of shadowed) {
    logger.warn(
      { group: name },
      "a group that was added at run time is not served: config.yaml has taken its name or chat, or its folder has gone to another chat",
    );
  }
}

function openFolders({ store, home, environment, publish }: Omit<AppContext, "metrics">): GroupFolders {
  const places = { groups: home.paths.groups, checkout: environment.checkout };
  return new GroupFolders({
    store: store.groups,
    exists: async (name) => (await lstat(join(home.paths.groups, name)).catch(() => undefined)) !== undefined,
    make: async (group) => void (await ensureGroupFolder(places, group)),
    hasMemories: async (name) => (await import("./memory/has-memories.ts")).hasMemories(home.paths.memory, name),
    adopting: ({ name, channel, chat, origin }, from: FormerChat) => {
      const former = from && { channel: from.channel, chat: from.chat };
      const data = { group: name, from: former, to: { channel, chat }, by: origin };
      return publish({ type: "folder.adopted", actor: "operator", data });
    },
  });
}
