import { lstat } from "node:fs/promises";
import { join } from "node:path";

import { type Group, type GroupChat, groupOfFolder } from "../../domain/chats/group.ts";
import type { ConfigFault } from "../faults.ts";
import { formatPath } from "../faults.ts";

/** A configured group whose chat has a folder of another name, which no configured group uses. */
export interface RenamedGroup {
  readonly group: string;
  readonly warning: ConfigFault;
}

/**
 * Groups that begin anew although their chat has a folder: who renames one in config.yaml has to rename its folder,
 * too.
 */
export async function findRenamedGroups(options: {
  readonly configured: readonly Group[];
  /** Owners of the folders, by the store. */
  readonly folders: readonly GroupChat[];
  /** Folder of all groups. */
  readonly place: string;
}): Promise<RenamedGroup[]> {
  const { configured, folders, place } = options;
  const names = new Set(configured.map(({ name }) => name));
  const found: RenamedGroup[] = [];
  for (const { name, channel, chat } of configured) {
    for (const former of folders) {
      if (former.channel !== channel || former.chat !== chat || names.has(groupOfFolder(former.name))) continue;
      if (!(await isThere(join(place, former.name)))) continue;
      found.push({ group: name, warning: describe({ name, former, place, isMade: await isThere(join(place, name)) }) });
    }
  }
  return found;
}

function describe(options: {
  readonly name: string;
  readonly former: GroupChat;
  readonly place: string;
  readonly isMade: boolean;
}): ConfigFault {
  const { name, former, place, isMade } = options;
  const [from, to] = [join(place, former.name), join(place, name)];
  const move = `${isMade ? `mv -T ${to} ${to}.new && ` : ""}mv -T ${from} ${to}`;
  const own = isMade ? "has its own folder" : "is new and has no folder";
  return {
    path: formatPath(["groups", name]),
    detail: `group "${name}" ${own}; the folder of "${former.name}" (chat ${former.chat} on ${former.channel}) is still there`,
    fix: `If you renamed the group: stop the host, then ${move}`,
  };
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}
