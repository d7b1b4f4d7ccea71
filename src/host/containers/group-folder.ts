import { ensureGroupFolder } from "../../config/home/group-folders.ts";
import { type Group, type GroupChat, workFolder } from "../../domain/chats/group.ts";
import { AppError } from "../../lib/app-error.ts";
import type { ContainerUser } from "../../sandbox/profile/profile.ts";
import { giveFolderTo } from "../../sandbox/workspace/folder-owner.ts";
import { type AppContext, hostUid } from "../context.ts";

/** The folder in which the group's agent works, made if it is missing, belonging to this user. */
export async function openGroupFolder(
  { home, environment, store }: AppContext,
  group: Group,
  user: ContainerUser,
): Promise<string> {
  const name = workFolder(group);
  if (name !== group.name) await claimAgentFolder(store, { ...group, name });
  const folders = { groups: home.paths.groups, checkout: environment.checkout };
  const folder = await ensureGroupFolder(folders, { name, main: group.main && name === group.name }, user);
  await giveFolderTo(folder, user, hostUid());
  return folder;
}

/** What another chat's agent has left under the same names is not this one's. */
async function claimAgentFolder({ groups }: AppContext["store"], { name, channel, chat }: GroupChat): Promise<void> {
  const owner = await groups.folder(name);
  if (owner?.channel === channel && owner.chat === chat) return;
  if (!owner) return groups.claimFolder({ name, channel, chat });
  throw new AppError(
    "conflict",
    `The folder ${name} belongs to an agent of the chat ${owner.chat} on ${owner.channel}.`,
    {
      fix: `move ${name} away from the folder groups of the home, or give it to that chat's group`,
    },
  );
}
