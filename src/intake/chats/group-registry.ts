import { type Group, groupNameFault } from "../../domain/group.ts";
import { AppError } from "../../lib/app-error.ts";
import type { GroupStore } from "../../stores/store.ts";
import { createInOrder } from "../in-order.ts";
import { ownCommand } from "../../lib/process/own-command.ts";

/** A group to be added at run time. */
type NewGroup = Omit<Group, "origin">;

/** All groups: those of the configuration and those added at run time. Lookups read memory; changes are stored first. */
export interface GroupRegistry {
  find(channel: string, chat: string): Group | undefined;
  byName(name: string): Group | undefined;
  /** By name. */
  list(): readonly Group[];
  /**
   * Throws `bad_input` for a name that cannot be a folder, `conflict` when the name or the chat is taken, or when the folder
   * of this name is another chat's and `adopt` does not say that it goes to this one.
   */
  add(group: NewGroup, options?: { readonly adopt?: boolean }): Promise<Group>;
  /** Returns what was removed. Throws `not_found`, or `conflict` for a group of the configuration. */
  remove(name: string): Promise<Group>;
  /**
   * Puts these in the place of the groups of the configuration; stored groups are served or shadowed anew. Calls `commit`
   * before it, and what that returned in the moment of the change. One that rejects changes nothing.
   */
  reconfigure(configured: readonly Group[], commit: () => Promise<() => void>): Promise<GroupsChanged>;
  /** Stored groups that are not served: the configuration has since taken their name or chat, or their folder is another chat's by now. */
  readonly shadowed: readonly Group[];
}

/** Which groups there were not, or not any more, in the same chat. */
export interface GroupsChanged {
  readonly added: readonly Group[];
  readonly removed: readonly Group[];
}

export interface GroupRegistryOptions {
  readonly configured: readonly Group[];
  readonly store: Pick<GroupStore, "list" | "add" | "remove">;
  /** Makes the folder of a group; called before the group is stored, may be called again for the same group. */
  readonly prepare: (group: Group, adopt: boolean) => Promise<void>;
  /** Does the folder of a stored group belong to another chat by now? */
  readonly isLost?: (group: Group) => Promise<boolean>;
  /** Are chats of this channel names that people type? A group there is also found by its own name. */
  readonly hasTypedChats?: (channel: string) => boolean;
}

/** Reads the stored groups once; only this registry may change them afterwards. */
export async function openGroupRegistry(options: GroupRegistryOptions): Promise<GroupRegistry> {
  const { groups, shadowed } = await withStored(options, options.configured, await options.store.list());
  const inOrder = createInOrder();
  return {
    shadowed,
    find: (channel, chat) => findGroup(groups, { channel, chat, isTyped: options.hasTypedChats?.(channel) ?? false }),
    byName: (name) => groups.get(name),
    list: () => sorted(groups),
    add: (group, { adopt = false } = {}) => inOrder("", () => addGroup(options, groups, { ...group, adopt })),
    remove: (name) => inOrder("", () => removeGroup(options, { groups, shadowed }, name)),
    reconfigure: (configured, commit) =>
      inOrder("", async () => {
        const known = [...groups.values(), ...shadowed].filter(({ origin }) => origin === "store");
        const next = await withStored(options, configured, known);
        const changeMore = await commit();
        const before = new Map(groups);
        groups.clear();
        for (const [name, group] of next.groups) groups.set(name, group);
        shadowed.splice(0, shadowed.length, ...next.shadowed);
        changeMore();
        return { added: notIn(before, groups), removed: notIn(groups, before) };
      }),
  };
}

/** The groups of the configuration, and of those that were added at run time the ones that it leaves room for. */
export async function withStored(
  options: Pick<GroupRegistryOptions, "isLost">,
  configured: readonly Group[],
  stored: readonly Group[],
): Promise<{ readonly groups: Map<string, Group>; readonly shadowed: Group[] }> {
  const groups = new Map(configured.map((group) => [group.name, group]));
  const shadowed: Group[] = [];
  for (const group of stored) {
    if (conflictWith(group, groups) || (await options.isLost?.(group))) shadowed.push(group);
    else groups.set(group.name, group);
  }
  return { groups, shadowed };
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
  groups: Map<string, Group>,
  { adopt, ...added }: NewGroup & { readonly adopt: boolean },
): Promise<Group> {
  const fault = groupNameFault(added.name);
  if (fault !== undefined) throw new AppError("bad_input", `"${added.name}" ${fault}.`);
  const conflict = conflictWith(added, groups);
  if (conflict) throw new AppError("conflict", conflict);
  const group: Group = { ...added, origin: "store" };
  await options.prepare(group, adopt);
  await options.store.add(group);
  groups.set(group.name, group);
  return group;
}

async function removeGroup(
  options: GroupRegistryOptions,
  { groups, shadowed }: { readonly groups: Map<string, Group>; readonly shadowed: Group[] },
  name: string,
): Promise<Group> {
  const group = groups.get(name) ?? shadowed.find((stored) => stored.name === name);
  if (group?.origin === "config") {
    throw new AppError("conflict", `Group "${name}" comes from config.yaml and cannot be removed at run time.`, {
      fix: `remove "${name}" below "groups" in config.yaml`,
    });
  }
  if (!group) throw new AppError("not_found", `There is no group "${name}".`, { fix: ownCommand("groups list") });
  await options.store.remove(name);
  if (!groups.delete(name)) shadowed.splice(shadowed.indexOf(group), 1);
  return group;
}

/** Why this group cannot stand beside the others; undefined when it can. */
function conflictWith(added: NewGroup, groups: ReadonlyMap<string, Group>): string | undefined {
  if (groups.has(added.name)) return `Group "${added.name}" already exists.`;
  for (const group of groups.values()) {
    if (group.channel === added.channel && group.chat === added.chat) {
      return `The chat "${added.chat}" on channel ${added.channel} already belongs to group "${group.name}".`;
    }
  }
  return undefined;
}
