import { lstat } from "node:fs/promises";
import { join } from "node:path";

import type { Logger } from "pino";

import type { NewEvent, Publish } from "../../domain/events/event.ts";
import type { Group, GroupChat, StoredGroup } from "../../domain/chats/group.ts";
import { GroupFolders } from "../../intake/chats/group-folders.ts";
import { type GroupRegistry, openGroupRegistry } from "../../intake/chats/group-registry.ts";
import { toError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { Signal } from "../../lib/signal.ts";
import type { GroupStore } from "../../stores/contract/store.ts";
import { hasTrait } from "../adapters.ts";
import { withAddedGroups } from "../configured/added-groups.ts";
import { findRenamedGroups } from "../checks/renamed-groups.ts";
import { configuredGroups, storedGroup } from "../configured/groups.ts";
import { ensureGroupFolder } from "../home/group-folders.ts";
import { type ConfigCheck, describeFault, describeWarning } from "../loading/load.ts";
import type { Config } from "../schema/config.ts";
import type { RunningConfig } from "./running-config.ts";

interface ServedGroupsOptions {
  readonly store: GroupStore;
  /** True when anything is kept in a memory of the group of this name. */
  readonly hasMemories: (name: string) => Promise<boolean>;
  readonly publish: Publish;
  readonly logger: Logger;
}

/** All groups of a running host, with the owners of their folders. */
export class ServedGroups {
  readonly registry: GroupRegistry;
  /**
   * Emits each group that comes to a running host. One of its name may have been here before and have left something
   * unanswered.
   */
  readonly arrived = new Signal<Group>();
  /** Names of stored groups that are not served because of their settings. */
  readonly unusable: Set<string>;
  readonly folders: GroupFolders;
  readonly #running: RunningConfig;
  readonly #options: ServedGroupsOptions;

  private constructor(
    running: RunningConfig,
    options: ServedGroupsOptions,
    opened: {
      readonly registry: GroupRegistry;
      readonly folders: GroupFolders;
      readonly unusable: Set<string>;
    },
  ) {
    this.#running = running;
    this.#options = options;
    this.registry = opened.registry;
    this.unusable = opened.unusable;
    this.folders = opened.folders;
  }

  /** Makes the folders of configured groups and adds the stored groups to the configuration. */
  static async open(running: RunningConfig, options: ServedGroupsOptions): Promise<ServedGroups> {
    const { live, adapters, home } = running;
    const { store, logger } = options;
    const folders = openFolders(running, options);
    const configured = configuredGroups(live.view);
    await takeFolders({ store, folders, place: home.paths.groups, logger }, configured);
    const unusable = await addStoredGroups(running, options, folders);
    const registry = await openGroupRegistry({
      configured,
      store,
      prepare: (group, adopt) => folders.take(group, adopt),
      resolve: (group) => storedGroup(live.view, group),
      isLost: async (group) => unusable.has(group.name) || folders.isLost(group),
      hasTypedChats: (channel) => hasTrait({ config: live.view, adapters }, channel, "typedChats"),
    });
    warnOfShadowed(logger, registry.shadowed);
    return new ServedGroups(running, options, { registry, folders, unusable });
  }

  /** Adds the stored groups to a checked file. One with which a group could not be served any longer is at fault. */
  check(check: ConfigCheck): ConfigCheck {
    if (!check.ok) return check;
    const { shadowed } = this.registry;
    const left = new Set(shadowed.map(({ name }) => name).filter((name) => !this.unusable.has(name)));
    const stored = this.registry.stored().filter(({ name }) => !left.has(name));
    const { variables } = this.#running.environment;
    const { config, added, secrets, refused } = withAddedGroups(check.loaded, stored, variables);
    const faults = [...refused].flatMap(([name, found]) => (this.unusable.has(name) ? [] : found));
    if (faults.length > 0) {
      const fix = `These groups were added at run time: change config.yaml, or the group with \`${ownCommand("groups set")}\`.`;
      return { ok: false, faults: faults.map((fault) => ({ ...fault, fix: fault.fix ?? fix })) };
    }
    return { ok: true, loaded: { ...check.loaded, config, added, secrets: [...check.loaded.secrets, ...secrets] } };
  }

  /**
   * Serves the groups of this configuration instead. `record` runs before the change; one that rejects changes nothing.
   * Returns the groups that were not served before.
   */
  async reconfigure(
    {
      config,
      added: usable = new Set(),
    }: { readonly config: Config; readonly added?: ReadonlySet<string> | undefined },
    record: () => Promise<void>,
  ): Promise<readonly Group[]> {
    const { live, home } = this.#running;
    const { store, logger } = this.#options;
    const configured = configuredGroups(config, usable);
    for (const name of usable) this.unusable.delete(name);
    await takeFolders({ store, folders: this.folders, place: home.paths.groups, logger }, configured);
    const shadowed = new Set(this.registry.shadowed);
    const { added } = await this.registry.reconfigure(configured, async () => {
      await record();
      return () => live.replace(config);
    });
    warnOfShadowed(
      logger,
      this.registry.shadowed.filter((group) => !shadowed.has(group)),
    );
    return added;
  }

  /** Tells of groups that have come by a changed configuration. Never rejects. */
  async welcome(groups: readonly Group[]): Promise<void> {
    for (const group of groups) {
      await this.arrived.emit(group).catch((error: unknown) => {
        const fault = { err: toError(error), group: group.name };
        this.#options.logger.error(fault, "could not look at the waiting messages of a new group");
      });
    }
  }
}

/**
 * Adds the settings of stored groups to those of config.yaml. Returns the names of groups that are not served, because
 * their settings cannot be used with it.
 */
async function addStoredGroups(
  { live, adapters, environment, redaction }: RunningConfig,
  { store, logger }: ServedGroupsOptions,
  folders: GroupFolders,
): Promise<Set<string>> {
  const stored: StoredGroup[] = [];
  for (const group of await store.list()) {
    if (!(await folders.isLost(group))) stored.push(group);
  }
  const loaded = { config: live.current, adapters };
  const { config, secrets, refused } = withAddedGroups(loaded, stored, environment.variables);
  redaction.add(secrets);
  live.replace(config);
  for (const [group, faults] of refused) {
    const why = faults.map(describeFault).join("; ");
    logger.error({ group, faults }, `the group ${group}, which was added at run time, is not served: ${why}`);
  }
  return new Set(refused.keys());
}

/** Makes the folders of configured groups, and warns of those that begin empty although their chat has a folder. */
export async function takeFolders(
  {
    store,
    folders,
    place,
    logger,
  }: {
    readonly store: Pick<GroupStore, "folders">;
    readonly folders: GroupFolders;
    /** The folder that holds the folders of groups. */
    readonly place: string;
    readonly logger: Logger;
  },
  configured: readonly Group[],
): Promise<void> {
  const known = await store.folders();
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
  const renamed = await findRenamedGroups({ configured, folders: known, place });
  for (const { group, warning } of renamed) if (isNew(group)) logger.warn(describeWarning(warning));
}

function warnOfShadowed(logger: Logger, shadowed: readonly GroupChat[]): void {
  for (const { name } of shadowed) {
    logger.warn(
      { group: name },
      "a group that was added at run time is not served: config.yaml has taken its name or chat, or its folder has gone to another chat",
    );
  }
}

function openFolders(
  { home, environment }: RunningConfig,
  { store, hasMemories, publish }: ServedGroupsOptions,
): GroupFolders {
  const places = { groups: home.paths.groups, checkout: environment.checkout };
  return new GroupFolders({
    store,
    exists: async (name) => (await lstat(join(home.paths.groups, name)).catch(() => undefined)) !== undefined,
    make: async (group) => void (await ensureGroupFolder(places, group)),
    hasMemories,
    adopting: async ({ name, channel, chat, origin }, from) => {
      const former = from && { channel: from.channel, chat: from.chat };
      const data = { group: name, from: former, to: { channel, chat }, by: origin };
      const event: NewEvent<"folder.adopted"> = { type: "folder.adopted", actor: "operator", data };
      await publish(event);
    },
  });
}
