import { createHash } from "node:crypto";
import { setImmediate as nextTurnOfLoop } from "node:timers/promises";

import { OpenedFolder } from "./opened-folder.ts";

/** A layer with more entries is always looked at as a whole. */
const maxEntries = 20_000;
const maxFolders = 50_000;

/** A text that differs after every change in the layer; undefined when it holds too much or cannot be read. */
export async function layerTrace(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  let left = maxEntries;
  const add = async (folder: OpenedFolder): Promise<void> => {
    for (const name of folder.names(left + 1)) {
      left -= 1;
      const facts = folder.stat(name);
      if (left < 0 || facts === undefined) continue;
      hash.update(name).update(`/${facts.ino}:${facts.ctimeNs}:${facts.size}:${facts.mode}\n`);
      using inner = facts.isDirectory() ? folder.folder(name) : undefined;
      if (inner) await add(inner);
      hash.update("..\n");
    }
    await nextTurnOfLoop();
  };
  try {
    using layer = OpenedFolder.open(path);
    await add(layer);
  } catch {
    return undefined;
  }
  return left < 0 ? undefined : hash.digest("hex");
}

/** A folder of the layer that lies over one of the real folder. */
interface MergedFolder {
  readonly key: string;
  /** The same as long as it is the same folder in the same place. */
  readonly identity: string;
}

/** Lists the folders in the layer, itself left out, that lie over real folders. */
export function mergedFolders(layer: OpenedFolder, real: OpenedFolder, below = "", found: MergedFolder[] = []) {
  if (found.length >= maxFolders) return found;
  for (const name of readable(layer)) {
    const facts = layer.stat(name);
    if (facts?.isDirectory() !== true || real.stat(name)?.isDirectory() !== true) continue;
    const text = name.toString("latin1");
    const key = below === "" ? text : `${below}/${text}`;
    found.push({ key, identity: `${key}:${facts.dev}:${facts.ino}:${facts.birthtimeNs}` });
    using inner = layer.folder(name);
    using under = real.folder(name);
    if (inner && under) mergedFolders(inner, under, key, found);
  }
  return found;
}

function readable(folder: OpenedFolder): Buffer[] {
  try {
    return folder.names(maxFolders);
  } catch {
    // The comparison says so of it.
    return [];
  }
}
