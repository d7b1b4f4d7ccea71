import { existsSync } from "node:fs";
import { join } from "node:path";

import { hasTrait } from "../../config/adapters.ts";
import { ensureGroupFolder } from "../../config/home/group-folders.ts";
import { agentFolder, groupOfFolder } from "../../domain/chats/group.ts";
import type { FolderUsage } from "../../domain/turns/limit.ts";
import { freeSpace } from "../../lib/files/free-space.ts";
import { measureFolder } from "../../sandbox/workspace/folder-usage.ts";
import { Inbox } from "../../intake/inbox.ts";
import { OutgoingFiles } from "../../delivery/outgoing-files.ts";
import { createHearingOf } from "../capabilities/media.ts";
import type { GroupBudgets } from "../capabilities/sound-calls.ts";
import { hostUid } from "../context.ts";
import type { AppContext } from "../context.ts";
import { BlobFolder } from "../../stores/blobs/blob-folder.ts";
import { mebibyte } from "../../lib/text/bytes.ts";

const measureMs = 20_000;

/**
 * The way of members' files into groups' folders, within the quota of a folder and what is to stay free on the disk.
 */
export async function openInbox(context: AppContext, registry: GroupBudgets): Promise<Inbox> {
  const { config, home, clock, logger } = context;
  const { groups, incoming } = home.paths;
  return Inbox.open({
    groupsFolder: groups,
    temporaryFolder: incoming,
    otherFolders: (group) =>
      Promise.all(
        otherAgents(context.live, group).map(async (agent) => {
          const name = agentFolder(group, agent);
          await ensureGroupFolder({ groups, checkout: context.environment.checkout }, { name, main: false });
          return name;
        }),
      ),
    get maxBytes() {
      return config.intake.attachmentMb * mebibyte;
    },
    roomFor: roomInGroupFolder(context),
    hostUid: hostUid(),
    clock,
    logger,
    hear: createHearingOf(context, registry),
  });
}

/** Returns the agents of a group beside its first one. */
function otherAgents(live: AppContext["live"], name: string): readonly string[] {
  return live.groupOf({ name }).agents.slice(1);
}

/**
 * What the agents of a group hold in their folders together; undefined: too much to be counted in time. `more`: other
 * folders of theirs.
 */
export async function measureGroup(
  { live, home }: Pick<AppContext, "live" | "home">,
  { group, more = [] }: { readonly group: string; readonly more?: readonly string[] },
  signal: AbortSignal,
): Promise<FolderUsage | undefined> {
  const names = [group, ...otherAgents(live, group).map((agent) => agentFolder(group, agent))];
  const folders = [...names.map((name) => join(home.paths.groups, name)), ...more];
  let [bytes, entries] = [0, 0];
  for (const folder of folders.filter((path) => existsSync(path))) {
    const usage = await measureFolder(folder, signal);
    if (!usage) return undefined;
    [bytes, entries] = [bytes + usage.bytes, entries + usage.entries];
  }
  return { bytes, entries };
}

/** Bytes that the folders of a group's agents may still take, given one of them. */
export function roomInGroupFolder({ config, live, home }: AppContext): (folder: string) => Promise<number> {
  const { groups } = home.paths;
  return async (folder) => {
    const group = groupOfFolder(folder);
    const usage = await measureGroup({ live, home }, { group }, AbortSignal.timeout(measureMs));
    const left = config.sandbox.workspaceMb * mebibyte - (usage?.bytes ?? Infinity);
    return Math.min(left, await roomOnDisk(groups, config.intake.reserveMb));
  };
}

/** Copies of what agents send. */
export async function openOutgoingFiles(context: AppContext): Promise<OutgoingFiles> {
  const { config, home, store, clock, logger } = context;
  const { groups, outgoing } = home.paths;
  return OutgoingFiles.open({
    groupsFolder: groups,
    folder: outgoing,
    store: store.outbox,
    isFetchedLater: (channel) => hasTrait(context, channel, "fetchedLater"),
    freeBytes: () => roomOnDisk(outgoing, config.intake.reserveMb),
    clock,
    logger,
  });
}

/** Contents that steps refer to. */
export function openBlobs({ home, clock }: Pick<AppContext, "home" | "clock">): Promise<BlobFolder> {
  return BlobFolder.open({ folder: home.paths.blobs, clock });
}

/** Bytes of all blobs of a group together, so that an agent cannot fill the disk by looking at images. */
const groupBlobBytes = 2_048 * mebibyte;

/** Whether a group may have another blob. */
export function roomForBlobs({ config, home, store }: AppContext): (group: string) => Promise<boolean> {
  return async (group) => {
    if ((await roomOnDisk(home.paths.blobs, config.intake.reserveMb)) <= 0) return false;
    return (await store.blobs.bytesOf(group)) < groupBlobBytes;
  };
}

/** Bytes that may be written before what is kept free is touched. */
async function roomOnDisk(folder: string, reserveMb: number): Promise<number> {
  return (await freeSpace(folder)).bytes - reserveMb * mebibyte;
}
