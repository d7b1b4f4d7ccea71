import type { Group, GroupChat } from "../../domain/chats/group.ts";
import { AppError } from "../../lib/app-error.ts";
import type { GroupStore } from "../../stores/contract/store.ts";

/** The chat that owns a folder; undefined when unknown. */
export type FormerChat = Pick<GroupChat, "channel" | "chat"> | undefined;

export interface GroupFoldersOptions {
  readonly store: Pick<GroupStore, "folder" | "claimFolder" | "earlierChat">;
  /** True when the groups' folder has an entry of this name. */
  readonly exists: (name: string) => Promise<boolean>;
  /** Creates the folder if it is missing. */
  readonly make: (group: Pick<Group, "name" | "main">) => Promise<void>;
  /** True when a memory of this name has entries. */
  readonly hasMemories: (name: string) => Promise<boolean>;
  /** Puts on record that what another chat has left goes to this group; called before it does. */
  readonly adopting: (group: Group, from: FormerChat) => Promise<void>;
}

/**
 * Folders of groups, each of which belongs to one chat for as long as it is not handed over: files, instructions and
 * what members said there must not come to another chat by a name alone.
 */
export class GroupFolders {
  readonly #options: GroupFoldersOptions;

  constructor(options: GroupFoldersOptions) {
    this.#options = options;
  }

  /**
   * Claims the folder for a group added at run time. `adopt` also takes over what another or an unknown chat left;
   * otherwise that is a `conflict`. Memories from another chat are never handed over: also a `conflict`.
   */
  async take(group: Group, adopt: boolean): Promise<void> {
    const { store, make, hasMemories, adopting } = this.#options;
    const found = await this.#foreign(group);
    if (found && !adopt) throw taken(group, found.from);
    if (found && (await hasMemories(group.name))) throw remembered(group);
    if (found) await adopting(group, found.from);
    // Noted before it is made: a folder that a crash leaves behind is known to be this chat's.
    await store.claimFolder(group);
    await make(group);
  }

  /**
   * For a group of the configuration: that is the operator's own word. The chat that the folder was another one's of,
   * if so.
   */
  async takeConfigured(group: Group): Promise<FormerChat> {
    const { store, make, adopting } = this.#options;
    const owner = await store.folder(group.name);
    const isForeign = owner !== undefined && !isSameChat(owner, group);
    if (isForeign) await adopting(group, owner);
    if (owner === undefined || isForeign) await store.claimFolder(group);
    await make(group);
    return isForeign ? owner : undefined;
  }

  /** True when the folder has gone to another chat since this group was added. */
  isLost(group: GroupChat): Promise<boolean> {
    return isLost(this.#options.store, group);
  }

  /** True when this group can be added without taking over another chat's data. */
  async isFree(group: GroupChat): Promise<boolean> {
    return (await this.#foreign(group)) === undefined;
  }

  async #foreign(group: GroupChat): Promise<{ readonly from: FormerChat } | undefined> {
    const { store, exists } = this.#options;
    const owner = await store.folder(group.name);
    if (owner) return isSameChat(owner, group) ? undefined : { from: owner };
    const earlier = await store.earlierChat(group);
    if (earlier) return { from: earlier };
    return (await exists(group.name)) ? { from: undefined } : undefined;
  }
}

/** The same, with nothing but the store. */
export async function isLost(store: Pick<GroupStore, "folder">, group: GroupChat): Promise<boolean> {
  const owner = await store.folder(group.name);
  return owner !== undefined && !isSameChat(owner, group);
}

function isSameChat(one: Pick<GroupChat, "channel" | "chat">, other: Pick<GroupChat, "channel" | "chat">): boolean {
  return one.channel === other.channel && one.chat === other.chat;
}

function taken({ name }: GroupChat, from: FormerChat): AppError {
  const whose = from
    ? `the folder and messages of this name belong to the chat "${from.chat}" on channel ${from.channel}`
    : "there is a folder of this name, and it is not known which chat it belongs to";
  const fix = "choose another name, or hand it over with --adopt: the new chat's agent then has all of its files";
  return new AppError("conflict", `"${name}" cannot be the name of this group: ${whose}.`, { fix });
}

function remembered({ name }: GroupChat): AppError {
  const message = `The folder of "${name}" cannot be handed over: its memory holds what was said in the other chat.`;
  const fix = `choose another name; or keep a copy with \`memory export --group ${name}\` and have it forgotten with \`memory pipe --group ${name}\` and the line {"op":"reset"}, also of other agents (--agent)`;
  return new AppError("conflict", message, { fix });
}
