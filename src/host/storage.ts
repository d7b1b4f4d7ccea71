import { ensureGroupFolder } from "../config/home/group-folders.ts";
import { OutgoingFiles } from "../delivery/outgoing-files.ts";
import { agentFolder } from "../domain/chats/group.ts";
import type { HearSound } from "../domain/chats/message.ts";
import { AttachmentFetcher } from "../intake/attachment-fetcher.ts";
import { roomOnDisk } from "../lib/files/free-space.ts";
import { hostUid } from "../lib/process/host-uid.ts";
import { mebibyte } from "../lib/text/bytes.ts";
import { GroupSpace } from "../sandbox/workspace/group-space.ts";
import { removeUnreferenced } from "../stores/blobs/remove-unreferenced.ts";
import { Retention } from "../stores/retention.ts";
import { messagesPerStep } from "../turns/steps/collect-messages.ts";
import type { AppContext } from "./context.ts";

/** The disk space of groups' folders. */
export function createGroupSpace({ live, home }: Pick<AppContext, "live" | "home">): GroupSpace {
  return new GroupSpace({
    folder: home.paths.groups,
    agentFolders: (name) => otherFoldersOf(live, name),
    reviews: home.paths.reviews,
    quotaBytes: () => live.current.sandbox.workspaceMb * mebibyte,
    reserveBytes: () => reserveBytes(live),
  });
}

/** Returns the names of the folders of a group's agents beside its first one. */
function otherFoldersOf(live: AppContext["live"], name: string): readonly string[] {
  const others = live.groupOf({ name }).agents.slice(1);
  return others.map((agent) => agentFolder(name, agent));
}

/** Returns the bytes that stay free on the disk. */
export function reserveBytes(live: AppContext["live"]): number {
  return live.current.intake.reserveMb * mebibyte;
}

/**
 * The way of members' files into groups' folders, within the quota of a folder and what is to stay free on the disk.
 */
export async function openAttachmentFetcher(context: AppContext, hear: HearSound): Promise<AttachmentFetcher> {
  const { config, live, home, environment, space, clock, logger } = context;
  const { groups, incoming } = home.paths;
  const folders = { groups, checkout: environment.checkout };
  return AttachmentFetcher.open({
    groupsFolder: groups,
    temporaryFolder: incoming,
    otherFolders: async (group) => {
      const names = otherFoldersOf(live, group);
      await Promise.all(names.map((name) => ensureGroupFolder(folders, { name, main: false })));
      return names;
    },
    get maxBytes() {
      return config.intake.attachmentMb * mebibyte;
    },
    roomFor: (folder) => space.roomIn(folder),
    hostUid: hostUid(),
    clock,
    logger,
    hear,
  });
}

/** Copies of what agents send. */
export async function openOutgoingFiles(context: AppContext): Promise<OutgoingFiles> {
  const { live, hasTrait, home, store, clock, logger } = context;
  const { groups, outgoing } = home.paths;
  return OutgoingFiles.open({
    groupsFolder: groups,
    folder: outgoing,
    store: store.outbox,
    isFetchedLater: (channel) => hasTrait(channel, "fetchedLater"),
    freeBytes: () => roomOnDisk(outgoing, reserveBytes(live)),
    clock,
    logger,
  });
}

/** Removes what is older than the settings keep, from now on. */
export function openRetention({ config, store, blobs: folder, publish, clock, logger }: AppContext): Retention {
  return new Retention({
    store,
    get days() {
      return config.store.retentionDays;
    },
    get eventDays() {
      return config.events.retentionDays;
    },
    removeBlobs: (signal) => removeUnreferenced({ folder, blobs: store.blobs, clock }, signal),
    keepNewest: messagesPerStep,
    publish,
    clock,
    logger,
  });
}
