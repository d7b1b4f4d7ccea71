import { createHash } from "node:crypto";
import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";

import type { Logger } from "pino";

import { LayerHome, type LayerRecord } from "./layer-record.ts";
import { type LayerSurroundings, MountLayer } from "./mount-layer.ts";
import type { ReviewLayer, ReviewLayers } from "./review-layer.ts";
import type { MountRequest } from "../../domain/chats/group.ts";
import { expandHome } from "../../lib/files/paths.ts";
import { containerLabels } from "../launch/spec.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import { endGroup } from "../pool/end-group.ts";
import type { SessionPool } from "../pool/pool.ts";
import { sandboxSize, type SandboxSize } from "../profile/profile.ts";
import type { ImageFacts } from "../launch/spec.ts";
import { memoize } from "../../lib/memoize.ts";
import { reviewFault } from "./review-fault.ts";
import type { MountGrant, ReviewVolume } from "../mounts/rules.ts";
import { clockLagMs } from "./change-history.ts";
import { setTimeout as timeout } from "node:timers/promises";

/** A group as far as its mounts may need layers. */
interface MountingGroup {
  readonly mounts: readonly Pick<MountRequest, "source" | "target" | "access">[];
}

interface MountLayersOptions extends Pick<LayerSurroundings, "engine" | "instance" | "beforeChange"> {
  /** Folder of all layers, in the home. */
  readonly folder: string;
  readonly images: { imageOf(group: string): Promise<ImageFacts> };
  /** The agent image without packages. */
  readonly base: () => Promise<ImageFacts>;
  readonly config: { readonly sandbox: SandboxSize };
  readonly pool: () => Pick<SessionPool, "list" | "stop">;
  readonly groups: { byName(name: string): MountingGroup | undefined };
  /** Meaning of `~`. */
  readonly homeFolder: string;
  readonly logger: Logger;
}

/** The layers of all groups, below one folder of the home. */
export class MountLayers implements ReviewLayers {
  readonly #options: LayerSurroundings & Pick<MountLayersOptions, "folder" | "groups" | "homeFolder" | "logger">;
  readonly #layers = new Map<string, Promise<MountLayer>>();
  readonly #fault: () => Promise<string | undefined>;
  /** The trial of this machine, once it has begun: its volume is nobody's leftover. */
  #trial: Promise<unknown> = Promise.resolve();

  constructor(options: MountLayersOptions) {
    const { images, base, config, pool } = options;
    this.#options = {
      ...options,
      image: (group) => (group === undefined ? base() : images.imageOf(group)),
      endContainers: (group, reason) => endGroup(pool(), group, reason),
      sandbox: () => sandboxSize(config.sandbox),
      looking: new Set(),
    };
    const attempt = memoize(() => reviewFault(this.#options));
    this.#fault = () =>
      attempt().catch((error: unknown) => `Mounts with review could not be tried here: ${toError(error).message}`);
  }

  /** Undefined, or why no mount with review can be had here, as a sentence. Tried until it was seen. */
  async fault(): Promise<string | undefined> {
    const fault = this.#fault();
    this.#trial = fault;
    return fault;
  }

  /** True for a container that looks at a layer now. */
  isLooking(name: string): boolean {
    return this.#options.looking.has(name);
  }

  /** Finishes the decisions in whose middle the host died. To be called before any container starts. */
  async finishAll(): Promise<void> {
    for (const group of await namesIn(this.#options.folder)) await this.of(group);
  }

  /**
   * Removes layers that no mount needs and in which nothing is undecided, and volumes of this home that belong to no
   * layer. What a container has, or nobody can look into now, stays until the next time. Never rejects.
   */
  async removeUnneeded(): Promise<void> {
    try {
      await this.#removeUnneeded();
    } catch (error) {
      this.#options.logger.warn({ err: toError(error) }, "volumes that no mount needs were not looked for");
    }
  }

  async #removeUnneeded(): Promise<void> {
    const { engine, instance, folder, logger } = this.#options;
    const groups = await namesIn(folder);
    await this.#trial;
    // Before the layers: what is made meanwhile is not among them.
    const volumes = await engine.volumes({ [containerLabels.instance]: instance });
    const needed = new Set<string>();
    for (const group of groups) {
      for (const layer of await this.#layersOf(group)) if (!(await this.#isGone(layer))) needed.add(layer.volume);
    }
    for (const name of volumes) {
      if (needed.has(name) || !name.startsWith(`crabpot-${instance.slice(0, 8)}-review-`)) continue;
      if (await engine.removeVolume(name)) logger.info({ volume: name }, "a volume that no mount needs was removed");
    }
  }

  async #isGone(layer: MountLayer): Promise<boolean> {
    const { groups, homeFolder, logger } = this.#options;
    const { group, target, source } = layer;
    for (const mount of groups.byName(group)?.mounts ?? []) {
      if (mount.target !== target || mount.access === "ro") continue;
      const real = await realpath(expandHome(mount.source, homeFolder) ?? "").catch(() => source);
      if (real === source) return false;
    }
    try {
      const isGone = await layer.remove();
      if (isGone) this.#layers.delete(join(group, keyOf(target, source)));
      return isGone;
    } catch (error) {
      logger.debug({ err: toError(error), group, target }, "a layer that no mount needs could not be looked into");
      return false;
    }
  }

  async of(group: string): Promise<readonly ReviewLayer[]> {
    return this.#layersOf(group);
  }

  async mayHaveChanged(group: string): Promise<boolean> {
    const answers = await Promise.all((await this.#layersOf(group)).map((layer) => layer.mayHaveChanged()));
    return answers.includes(true);
  }

  /** The layer of a granted mount, made if there is none. */
  async open(group: string, grant: MountGrant): Promise<ReviewVolume> {
    const layer = await this.#layer(group, grant);
    return { volume: layer.volume, options: layer.options };
  }

  /**
   * Makes the volumes of mounts, and keeps decisions about them from beginning until what is returned is disposed:
   * to be held while a container with them starts.
   */
  async hold(group: string, grants: readonly MountGrant[]): Promise<Disposable> {
    using stack = new DisposableStack();
    for (const grant of grants) {
      const layer = await this.#layer(group, grant);
      stack.use(await layer.gate.enter());
      await layer.openVolume();
    }
    return stack.move();
  }

  /** Returns how the engine's volumes differ from what they were made as, a sentence each. */
  async faults(group: string, grants: readonly MountGrant[]): Promise<string[]> {
    const layers = await Promise.all(grants.map((grant) => this.#layer(group, grant)));
    const found = await Promise.all(layers.map((layer) => layer.volumeFault()));
    return found.filter((fault) => fault !== undefined);
  }

  #folderOf(group: string): string {
    return join(this.#options.folder, group);
  }

  async #layersOf(group: string): Promise<MountLayer[]> {
    const keys = await namesIn(this.#folderOf(group));
    const layers = await Promise.all(keys.map((key) => this.#opened(group, key)));
    return layers.filter((layer) => layer !== undefined);
  }

  async #opened(group: string, key: string): Promise<MountLayer | undefined> {
    const known = this.#layers.get(join(group, key));
    if (known) return known;
    const home = new LayerHome(join(this.#folderOf(group), key));
    const record = await home.readRecord();
    return record && this.#keep(join(group, key), () => this.#start(home, record));
  }

  async #layer(group: string, grant: MountGrant): Promise<MountLayer> {
    const { target, realPath: source, device, inode, uid, gid } = grant;
    const key = keyOf(target, source);
    const home = new LayerHome(join(this.#folderOf(group), key));
    return this.#keep(join(group, key), async () => {
      const old = await home.readRecord();
      await home.make();
      await timeout(2 * clockLagMs);
      const fresh = { since: Date.now(), bases: {} };
      const record: LayerRecord = { ...(old ?? fresh), group, target, source, device, inode, uid, gid };
      await home.writeRecord(record);
      return this.#start(home, record);
    });
  }

  async #start(home: LayerHome, record: LayerRecord): Promise<MountLayer> {
    const layer = new MountLayer(home, record, this.#options);
    await layer.finish();
    await layer.makeLayer();
    return layer;
  }

  async #keep(key: string, open: () => Promise<MountLayer>): Promise<MountLayer> {
    const opening = this.#layers.get(key) ?? open();
    this.#layers.set(key, opening);
    opening.catch(() => this.#layers.delete(key));
    return opening;
  }
}

function keyOf(target: string, source: string): string {
  return createHash("sha256").update(`${target}\0${source}`).digest("hex").slice(0, 16);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new AppError("setup_required", `${folder} cannot be read: ${error.message}`);
  });
}
