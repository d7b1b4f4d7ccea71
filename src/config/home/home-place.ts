import { randomBytes } from "node:crypto";
import { readFile, rename, stat, writeFile } from "node:fs/promises";

import type { Logger } from "pino";
import * as z from "zod";

import type { Publish } from "../../domain/events/event.ts";
import { AppError, nothingIfMissing } from "../../lib/app-error.ts";
import type { Home, HomePaths } from "./home.ts";

/**
 * Which file of which machine holds a home's id, and where: a copy is another file. `born` is when the file was made,
 * which no copying sets; "0" where the file system does not say.
 */
const placeFile = z.object({
  instance: z.string(),
  path: z.string(),
  machine: z.string(),
  device: z.string(),
  inode: z.string(),
  born: z.string(),
});

type Place = z.infer<typeof placeFile>;

/** A home with an id that no other home of this machine goes by. */
export interface SettledHome {
  readonly home: Home;
  /** The home's previous path, and its old id if it gets a new one now. */
  readonly was: { readonly path: string; readonly instance: string } | undefined;
  /** Makes the id hold for later starts. To be called once it is on record that it is another one. */
  readonly keep: () => Promise<void>;
}

/**
 * Gives a copied home a new id: with the original's id it would take over its containers. A renamed home keeps its id.
 * The caller holds the home's lock.
 */
export async function settleHome({ paths, instance }: Home): Promise<SettledHome> {
  const known = await readPlace(paths.place);
  const here = await placeOf(paths, instance);
  // Made at its first start, or by an earlier version, or given an id by the operator: its place begins here.
  const isOwn = known === undefined || known.instance !== instance || isSame(known, here);
  if (isOwn) {
    const was = known !== undefined && known.path !== here.path ? known : undefined;
    const isKept = known !== undefined && JSON.stringify(known) === JSON.stringify(here);
    return { home: { paths, instance }, was, keep: isKept ? async () => {} : () => keepPlace(paths, here) };
  }
  const fresh = randomBytes(8).toString("hex");
  return {
    home: { paths, instance: fresh },
    was: known,
    keep: async () => {
      await replace(paths.instance, `${fresh}\n`);
      await keepPlace(paths, await placeOf(paths, fresh));
    },
  };
}

/**
 * The number of a device may be another one after the machine has started again, so it counts only if the path has
 * changed.
 */
function isSame(known: Place, here: Place): boolean {
  const isSameFile = here.born === "0" ? known.inode === here.inode : known.born === here.born;
  const isThere = known.path === here.path || known.device === here.device;
  return known.machine === here.machine && isSameFile && isThere;
}

async function placeOf({ root, instance: file }: HomePaths, instance: string): Promise<Place> {
  const { dev, ino, birthtimeNs } = await stat(file, { bigint: true });
  const machine = await readFile("/etc/machine-id", "utf8").catch(() => "");
  return {
    instance,
    path: root,
    machine: machine.trim(),
    device: String(dev),
    inode: String(ino),
    born: String(birthtimeNs),
  };
}

async function readPlace(file: string): Promise<Place | undefined> {
  const text = await readFile(file, "utf8").catch(nothingIfMissing);
  if (text === undefined) return undefined;
  try {
    return placeFile.parse(JSON.parse(text));
  } catch (cause) {
    throw new AppError("setup_required", `${file} should say where this home is, and cannot be read.`, {
      cause,
      fix: `Remove ${file}. If this home is a copy of another one, remove its file instance as well.`,
    });
  }
}

async function keepPlace(paths: HomePaths, place: Place): Promise<void> {
  await replace(paths.place, `${JSON.stringify(place)}\n`);
}

async function replace(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomBytes(4).toString("hex")}`;
  await writeFile(draft, text, { mode: 0o600, flag: "wx", flush: true });
  await rename(draft, file);
}

/** Says that the home was at another place before, and records a new id before it is used. */
export async function recordMovedHome(
  { home, was, keep }: SettledHome,
  publish: Publish<"home.copied">,
  logger: Pick<Logger, "warn">,
): Promise<void> {
  const { root } = home.paths;
  if (was && was.instance !== home.instance) {
    const data = { from: was.path, to: root, formerInstance: was.instance, instance: home.instance };
    await publish({ type: "home.copied", actor: "host", data });
    const how = was.path === root ? "was replaced by a copy" : `was copied or moved from ${was.path}`;
    logger.warn(
      data,
      `this home ${how}: it takes a new instance id; containers of the old one are left alone (label crabpot.instance=${was.instance})`,
    );
  } else if (was) {
    logger.warn({ from: was.path, to: root }, `this home was moved from ${was.path}`);
  }
  await keep();
}
