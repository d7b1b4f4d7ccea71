import { randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { findLayerFolders, lookInside, type LookWish, volumeOptions } from "./hidden-folders.ts";
import type { LayerSurroundings } from "./mount-layer.ts";
import { OpenedFolder } from "./opened-folder.ts";
import { containerLabels } from "../launch/spec.ts";

/** A user that owns nothing. */
const nobody = { uid: 65_534, gid: 65_534 };

interface TrialOptions extends Pick<LayerSurroundings, "engine" | "instance" | "image" | "sandbox" | "looking"> {
  /** Folder of all layers, in the home. */
  readonly folder: string;
}

/**
 * Tries a mount with review on this machine: undefined when it holds what it promises, or why it cannot be had, as a
 * sentence. Only what was seen to work is used. Throws when it cannot be tried now.
 */
export async function reviewFault(options: TrialOptions): Promise<string | undefined> {
  if (process.platform !== "linux") return "Mounts with review need Linux.";
  const { kind, rootless, userNamespaces } = await options.engine.facts();
  if (kind !== "docker") return `Mounts with review need Docker; this engine is ${kind}.`;
  if (rootless || userNamespaces)
    return "Mounts with review need a Docker engine that runs as root, without user namespaces.";
  const fault = await tryOut(options);
  return fault && `Mounts with review do not work here: ${fault}.`;
}

async function tryOut(options: TrialOptions): Promise<string | undefined> {
  const { engine, instance, image, sandbox, folder, looking } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const trial = await mkdtemp(join(folder, ".trial-"));
  const [real, layer, work] = ["real", "layer", "work"].map((name) => join(trial, name)) as [string, string, string];
  const volume = `crabpot-${instance.slice(0, 8)}-review-${randomUUID().replaceAll("-", "")}`;
  try {
    await makeReal(real);
    for (const path of [layer, work]) await mkdir(path);
    await chmod(layer, 0o777);
    await engine.createVolume(volume, volumeOptions({ real, layer, work }), { [containerLabels.instance]: instance });
    const wish: LookWish = {
      engine,
      instance,
      looking,
      group: "",
      image: await image(undefined),
      sandbox: sandbox(),
      user: nobody,
      volume,
      layer,
      real,
    };
    await lookInside(wish, "try");
    const { hiding } = await findLayerFolders(wish);
    return await faultOf(real, layer, hiding);
  } finally {
    await engine.removeVolume(volume);
    using parent = OpenedFolder.open(folder);
    parent.removeAll(trial.slice(folder.length + 1));
    await rm(trial, { recursive: true, force: true });
  }
}

async function makeReal(real: string): Promise<void> {
  await mkdir(join(real, "replaced"), { recursive: true });
  for (const name of ["changed", "deleted", "replaced/hidden"]) {
    await writeFile(join(real, name), name);
    await chmod(join(real, name), 0o666);
  }
  for (const path of [real, join(real, "replaced")]) await chmod(path, 0o777);
}

async function faultOf(real: string, layer: string, hiding: ReadonlySet<string>): Promise<string | undefined> {
  for (const name of ["changed", "deleted", "replaced/hidden"]) {
    if ((await readFile(join(real, name), "utf8").catch(() => "")) !== name)
      return `${name} was changed in the real folder`;
  }
  if ((await lstat(join(real, "added")).catch(() => undefined)) !== undefined) return "a file got into the real folder";
  if ((await readFile(join(layer, "added"), "utf8")) !== "added") return "an added file is not in the layer";
  if ((await readFile(join(layer, "changed"), "utf8")) !== "changedchanged")
    return "a changed file is not in the layer";
  const mark = await lstat(join(layer, "deleted"));
  if (!mark.isCharacterDevice() || mark.rdev !== 0) return "a deleted file left no mark";
  return hiding.has("replaced") ? undefined : "a replaced folder cannot be told from others";
}
