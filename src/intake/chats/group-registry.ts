import { type Group, type GroupChat, groupNameFault, type StoredGroup } from "../../domain/chats/group.ts";
import { AppError } from "../../lib/app-error.ts";
import type { GroupStore } from "../../stores/contract/store.ts";
import { createInOrder } from "../in-order.ts";
import { ownCommand } from "../../lib/process/own-command.ts";

/** A group to be added at run time. */
type NewGroup = GroupChat & Partial<Pick<Group, "trigger" | "main" | "model">>;

/**
 * All groups: those of the configuration and those added at run time. Lookups read memory; changes are stored first.
 */
export interface GroupRegistry {
  find(channel: string, chat: string): Group | undefined;
  byName(name: string): Group | undefined;
  /** By name. */
  list(): readonly Group[];
  /**
   * Throws `bad_input` for a name that is no valid folder, and `conflict` when the name or the chat is taken, or the
   * folder belongs to another chat and `adopt` is not set.
   */
  add(group: NewGroup, options?: { readonly adopt?: boolean }): Promise<Group>;
  /** Returns what was removed. Throws `not_found`, or `conflict` for a group of the configuration. */
  remove(name: string): Promise<GroupChat>;
  /** Settings of groups added at run time, active or not. */
  stored(): readonly StoredGroup[];
  /**
   * A stored group says this from now on, which is stored already, and may be served with it; calls `commit` in the
   * moment of the change.
   */
  changed(name: string, settings: StoredGroup["settings"], commit: () => void): Promise<void>;
  /**
   * Puts these in the place of the groups of the configuration; stored groups are served or shadowed anew. Calls
   * `commit` before it, and what that returned in the moment of the change. One that rejects changes nothing.
   */
  reconfigure(configured: readonly Group[], commit: () => Promise<() => void>): Promise<GroupsChanged>;
  /**
   * Stored groups that are not served: the configuration has since taken their name or chat, or their folder is another
   * chat's by now.
   */
  readonly shadowed: readonly StoredGroup[];
}

/** Groups that were added or removed in the same chat. */
export interface GroupsChanged {
  readonly added: readonly Group[];
  readonly removed: readonly Group[];
}

export interface GroupRegistryOptions {
  readonly configured: readonly Group[];
  readonly store: Pick<GroupStore, "list" | "add" | "remove">;
  /** Makes the folder of a group; called before the group is stored, may be called again for the same group. */
  readonly prepare: (group: Group, adopt: boolean) => Promise<void>;
  /** A stored group as it is with the settings of now. */
  readonly resolve: (group: StoredGroup) => Group;
  /** True for a stored group that must stay inactive, as when its folder belongs to another chat now. */
  readonly isLost?: (group: StoredGroup) => Promise<boolean>;
  /** True when chats of this channel are typed names: its groups are also found by their own names. */
  readonly hasTypedChats?: (channel: string) => boolean;
}

/** Reads the stored groups once; only this registry may change them afterwards. */
export async function openGroupRegistry(options: GroupRegistryOptions): Promise<GroupRegistry> {
  const { groups, served, shadowed } = await withStored(options, options.configured, await options.store.list());
  const known: Known = { groups, served, shadowed };
  const inOrder = createInOrder();
  return {
    shadowed,
    find: (channel, chat) => findGroup(groups, { channel, chat, isTyped: options.hasTypedChats?.(channel) ?? false }),
    byName: (name) => groups.get(name),
    list: () => sorted(groups),
    stored: () => [...served.values(), ...shadowed],
    changed: (name, settings, commit) => inOrder("", () => changeGroup(options, known, { name, settings, commit })),
    add: (group, { adopt = false } = {}) => inOrder("", () => addGroup(options, known, { ...group, adopt })),
    remove: (name) => inOrder("", () => removeGroup(options, known, name)),
    reconfigure: (configured, commit) =>
      inOrder("", async () => {
        const next = await withStored(options, configured, [...served.values(), ...shadowed]);
        const changeMore = await commit();
        const before = new Map(groups);
        changeMore();
        groups.clear();
        for (const group of configured) groups.set(group.name, group);
        // With the settings that hold now.
        for (const [name, group] of next.served) groups.set(name, options.resolve(group));
        served.clear();
        for (const [name, group] of next.served) served.set(name, group);
        shadowed.splice(0, shadowed.length, ...next.shadowed);
        return { added: notIn(before, groups), removed: notIn(groups, before) };
      }),
  };
}

/** Groups by name as they are; of those that were added at run time, what they say themselves. */
interface Known {
  readonly groups: Map<string, Group>;
  readonly served: Map<string, StoredGroup>;
  readonly shadowed: StoredGroup[];
}

/** The groups of the configuration, and of those that were added at run time the ones that it leaves room for. */
export async function withStored(
  options: Pick<GroupRegistryOptions, "isLost" | "resolve">,
  configured: readonly Group[],
  stored: readonly StoredGroup[],
): Promise<Known> {
  const groups = new Map(configured.map((group) => [group.name, group]));
  const served = new Map<string, StoredGroup>();
  const shadowed: StoredGroup[] = [];
  for (const group of stored) {
    if (conflictWith(group, groups) || (await options.isLost?.(group))) shadowed.push(group);
    else {
      served.set(group.name, group);
      groups.set(group.name, options.resolve(group));
    }
  }
  return { groups, served, shadowed };
}

/** By name. */
export function sorted(groups: ReadonlyMap<string, Group>): readonly Group[] {
  return [...groups.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Those of `groups` that `others` has not in the same chat. */
function notIn(others: ReadonlyMap<string, Group>, groups: ReadonlyMap<string, Group>): Group[] {
  return [...groups.values()].filter(({ name, channel, chat }) => {
    const other = others.get(name);
    return other?.channel !== channel || other.chat !== chat;
  });
}

function findGroup(
  groups: ReadonlyMap<string, Group>,
  { channel, chat, isTyped }: { readonly channel: string; readonly chat: string; readonly isTyped: boolean },
): Group | undefined {
  for (const group of groups.values()) if (group.channel === channel && group.chat === chat) return group;
  const named = isTyped ? groups.get(chat) : undefined;
  return named?.channel === channel ? named : undefined;
}

async function addGroup(
  options: GroupRegistryOptions,
  { groups, served }: Known,
  { adopt, ...added }: NewGroup & { readonly adopt: boolean },
): Promise<Group> {
  const fault = groupNameFault(added.name);
  if (fault !== undefined) throw new AppError("bad_input", `"${added.name}" ${fault}.`);
  const conflict = conflictWith(added, groups);
  if (conflict) throw new AppError("conflict", conflict);
  const stored = toStored(added);
  const group = options.resolve(stored);
  await options.prepare(group, adopt);
  await options.store.add(stored);
  served.set(stored.name, stored);
  groups.set(group.name, group);
  return group;
}

async function changeGroup(
  options: GroupRegistryOptions,
  { groups, served, shadowed }: Known,
  { name, settings, commit }: Pick<StoredGroup, "name" | "settings"> & { readonly commit: () => void },
): Promise<void> {
  const place = shadowed.findIndex((group) => group.name === name);
  const former = served.get(name) ?? shadowed[place];
  if (!former) return commit();
  const group = { ...former, settings };
  const isLeft = place >= 0 && (conflictWith(group, groups) !== undefined || (await options.isLost?.(group)) === true);
  commit();
  if (place >= 0) shadowed.splice(place, 1, ...(isLeft ? [group] : []));
  if (isLeft) return;
  served.set(name, group);
  groups.set(name, options.resolve(group));
}

/** It says only what differs from what it would be anyway. */
function toStored({ name, channel, chat, trigger, main, model }: NewGroup): StoredGroup {
  const settings = {
    ...(trigger === "always" && { trigger }),
    ...(main === true && { main }),
    ...(model !== undefined && { model }),
  };
  return { name, channel, chat, settings };
}

async function removeGroup(
  options: GroupRegistryOptions,
  { groups, served, shadowed }: Known,
  name: string,
): Promise<GroupChat> {
  const group = served.get(name) ?? shadowed.find((stored) => stored.name === name);
  if (!group && groups.has(name)) {
    throw new AppError("conflict", `Group "${name}" comes from config.yaml and cannot be removed at run time.`, {
      fix: `remove "${name}" below "groups" in config.yaml`,
    });
  }
  if (!group) throw new AppError("not_found", `There is no group "${name}".`, { fix: ownCommand("groups list") });
  await options.store.remove(name);
  if (served.delete(name)) groups.delete(name);
  else shadowed.splice(shadowed.indexOf(group), 1);
  return group;
}

/** Returns why this group conflicts with the others; undefined when it does not. */
function conflictWith(added: GroupChat, groups: ReadonlyMap<string, Group>): string | undefined {
  if (groups.has(added.name)) return `Group "${added.name}" already exists.`;
  for (const group of groups.values()) {
    if (group.channel === added.channel && group.chat === added.chat) {
      return `The chat "${added.chat}" on channel ${added.channel} already belongs to group "${group.name}".`;
    }
  }
  return undefined;
}
