import { type Group, workFolder } from "../../domain/chats/group.ts";
import { AppError } from "../../lib/app-error.ts";
import { hostUid } from "../../lib/process/host-uid.ts";
import type { ContainerUser } from "../../sandbox/profile/profile.ts";
import { giveFolderTo } from "../../sandbox/workspace/folder-owner.ts";
import type { GroupStore } from "../../stores/contract/store.ts";
import { ensureGroupFolder } from "./group-folders.ts";

/** The folders in which agents work. */
export class WorkFolders {
  readonly #folders: Parameters<typeof ensureGroupFolder>[0];
  readonly #store: Pick<GroupStore, "folder" | "claimFolder">;

  constructor(folders: Parameters<typeof ensureGroupFolder>[0], store: Pick<GroupStore, "folder" | "claimFolder">) {
    this.#folders = folders;
    this.#store = store;
  }

  /** Returns the folder of the group's agent, made if it is missing and given to this user. */
  async open(group: Group, user: ContainerUser): Promise<string> {
    const name = workFolder(group);
    if (name !== group.name) await this.#claim(name, group);
    const isMain = group.main && name === group.name;
    const folder = await ensureGroupFolder(this.#folders, { name, main: isMain }, user);
    await giveFolderTo(folder, user, hostUid());
    return folder;
  }

  /** Refuses a folder that another chat's agent has left under the same name. */
  async #claim(name: string, { channel, chat }: Group): Promise<void> {
    const owner = await this.#store.folder(name);
    if (owner?.channel === channel && owner.chat === chat) return;
    if (!owner) return this.#store.claimFolder({ name, channel, chat });
    const where = `the chat ${owner.chat} on ${owner.channel}`;
    throw new AppError("conflict", `The folder ${name} belongs to an agent of ${where}.`, {
      fix: `move ${name} away from the folder groups of the home, or give it to that chat's group`,
    });
  }
}
