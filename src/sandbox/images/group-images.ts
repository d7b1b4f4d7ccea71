import type { Logger } from "pino";

import { countPackages, type PackageLists, sortPackages } from "../../domain/sandbox/packages.ts";
import type { Publish } from "../../domain/events/event.ts";
import { toError } from "../../lib/app-error.ts";
import { type EngineImage, failingLine, findPackageImage } from "./package-image.ts";
import { nameOfPackages, type PackageImageName, packageLabels, tagOfUser } from "./package-recipe.ts";

/** State of a group's image. `had`: the image in use until then: the previous one, or the plain agent image. */
export interface GroupImageState {
  readonly group: string;
  readonly state: "building" | "ready" | "failed";
  readonly image: string;
  readonly packages: PackageLists;
  /** Reason of the failure. */
  readonly reason?: string | undefined;
}

export interface GroupImagesOptions {
  readonly instance: string;
  /** The agent image, as soon as the engine can be asked for it. */
  readonly base: () => Promise<EngineImage>;
  readonly engine: { image(reference: string): Promise<EngineImage | undefined> };
  /** Makes the image, after a look at what comes of it. */
  readonly build: (name: PackageImageName, signal: AbortSignal) => Promise<EngineImage>;
  readonly tag: (id: string, tag: string) => Promise<void>;
  /** The group's wanted packages; undefined for the plain agent image. */
  readonly wantedBy: (group: string) => PackageLists | undefined;
  readonly groups: () => readonly string[];
  /** An image is there that was not: containers may not be what their groups get now. */
  readonly changed: () => void;
  readonly publish: Publish<"image.building" | "image.built" | "image.failed">;
  readonly now: () => number;
  readonly logger: Logger;
}

interface Entry {
  readonly name: PackageImageName;
  image: EngineImage | undefined;
  failed: { readonly reason: string; readonly at: number } | undefined;
  /** While it is looked for or built; never rejects. */
  work: Promise<void> | undefined;
}

/** Delay before a retry after a failed build, which begins with a turn of the group. */
const retryMs = 10 * 60_000;

/**
 * Which image each group's containers are made from. Those with packages are built one after the other, beside the
 * turns: a group goes on with the image that it had, and only one that never had any waits. What fails leaves the group
 * with what it had.
 */
export class GroupImages implements AsyncDisposable {
  readonly #options: GroupImagesOptions;
  readonly #stop = new AbortController();
  /** By hash. */
  readonly #entries = new Map<string, Entry>();
  /** The image last used by each group. */
  readonly #had = new Map<string, EngineImage>();
  #line: Promise<void> = Promise.resolve();

  constructor(options: GroupImagesOptions) {
    this.#options = options;
  }

  /**
   * Returns the image for a new container of the group. Calls nobody for a group without packages, and the engine once
   * for others.
   */
  async imageOf(group: string): Promise<EngineImage> {
    const base = await this.#options.base();
    const wanted = this.#wantedBy(group);
    if (wanted === undefined) return this.#give(group, base);
    const entry = await this.#look(base, wanted);
    if (entry.image) {
      if (this.#had.get(group)?.id !== entry.image.id) await this.#noteUse(group, entry.image);
      return this.#give(group, entry.image);
    }
    return (await this.#hadBefore(group, base)) ?? base;
  }

  /**
   * Resolves when a turn of the group may begin, or the signal aborts. `wait` is called first if it has to wait, which
   * is only so while the first image of a group is built; then it is true in the end.
   */
  async ready(group: string, signal: AbortSignal, wait: () => Promise<void>): Promise<boolean> {
    const wanted = this.#wantedBy(group);
    if (wanted === undefined) return false;
    const base = await this.#options.base();
    const entry = await this.#look(base, wanted);
    if (entry.image) return false;
    const work = this.#begin(entry);
    if (entry.failed || (await this.#hadBefore(group, base))) return false;
    await wait();
    await Promise.race([work, aborted(signal)]);
    return true;
  }

  /** Starts building missing images, retrying failed ones. */
  async review(): Promise<void> {
    const wanting = this.#options.groups().flatMap((group) => this.#wantedBy(group) ?? []);
    if (wanting.length === 0) return;
    const base = await this.#options.base();
    for (const wanted of wanting) {
      const entry = await this.#look(base, wanted);
      if (!entry.image) void this.#begin(entry, { anew: true });
    }
  }

  /** Builds the group's image if it is missing and returns the outcome; undefined when the group wants no packages. */
  async build(group: string): Promise<GroupImageState | undefined> {
    const wanted = this.#wantedBy(group);
    if (wanted === undefined) return undefined;
    const entry = await this.#look(await this.#options.base(), wanted);
    // Somebody may have removed it.
    if (entry.image) entry.image = await findPackageImage(this.#options.engine, entry.name);
    if (!entry.image) await this.#begin(entry, { anew: true });
    return stateOf(group, entry);
  }

  /** States of the groups that want packages, as far as known. */
  states(): GroupImageState[] {
    return this.#options.groups().flatMap((group) => this.#stateOf(group) ?? []);
  }

  /** True when the group's image failed to build. */
  hasFailed(group: string): boolean {
    return this.#stateOf(group)?.state === "failed";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the host is stopping"));
    await this.#line;
  }

  #wantedBy(group: string): PackageLists | undefined {
    const wanted = this.#options.wantedBy(group);
    return wanted && countPackages(wanted) > 0 ? wanted : undefined;
  }

  #stateOf(group: string): GroupImageState | undefined {
    const wanted = this.#wantedBy(group);
    if (wanted === undefined) return undefined;
    const named = JSON.stringify(sortPackages(wanted));
    const entry = [...this.#entries.values()].find(({ name }) => JSON.stringify(name.lists) === named);
    return entry && stateOf(group, entry);
  }

  #give(group: string, image: EngineImage): EngineImage {
    this.#had.set(group, image);
    return image;
  }

  /** Returns the image that a container of this group last used, also before a restart. */
  async #hadBefore(group: string, base: EngineImage): Promise<EngineImage | undefined> {
    const had = this.#had.get(group);
    if (had) return had;
    const image = await this.#options.engine.image(tagOfUser(this.#options.instance, group));
    // The agent in another one is not the one that this host talks to.
    return image?.labels[packageLabels.base] === base.id ? this.#give(group, image) : undefined;
  }

  async #look(base: EngineImage, wanted: PackageLists): Promise<Entry> {
    const name = nameOfPackages(base.id, wanted);
    const known = this.#entries.get(name.hash);
    if (known) return known;
    const image = await findPackageImage(this.#options.engine, name);
    const entry = this.#entries.get(name.hash) ?? { name, image, failed: undefined, work: undefined };
    this.#entries.set(name.hash, entry);
    return entry;
  }

  #begin(entry: Entry, { anew = false } = {}): Promise<void> {
    const isTooSoon = entry.failed && !anew && this.#options.now() < entry.failed.at + retryMs;
    if (entry.work || isTooSoon || this.#stop.signal.aborted) return entry.work ?? Promise.resolve();
    // One at a time: each takes what the machine has.
    const work = this.#line.then(() => this.#build(entry)).finally(() => (entry.work = undefined));
    entry.work = work;
    this.#line = work;
    return work;
  }

  async #build(entry: Entry): Promise<void> {
    const { name } = entry;
    const { publish, logger } = this.#options;
    const data = { image: name.tag, packages: name.lists };
    const begun = performance.now();
    try {
      if (this.#stop.signal.aborted) return;
      await publish({ type: "image.building", actor: "host", data });
      entry.image = await this.#options.build(name, this.#stop.signal);
      entry.failed = undefined;
      const elapsedMs = Math.round(performance.now() - begun);
      await publish({ type: "image.built", actor: "host", data: { ...data, id: entry.image.id, elapsedMs } });
      this.#options.changed();
    } catch (thrown) {
      if (this.#stop.signal.aborted) return;
      await this.#fail(entry, toError(thrown)).catch((error: unknown) =>
        logger.error({ err: toError(error), image: name.tag }, "a failed build could not be recorded"),
      );
    }
  }

  async #fail(entry: Entry, error: Error): Promise<void> {
    const { publish, now, logger } = this.#options;
    const { tag: image, lists: packages } = entry.name;
    const reason = failingLine(error);
    const again = entry.failed?.reason === reason;
    entry.failed = { reason, at: now() };
    logger.warn({ image, err: error }, "an image with packages could not be built");
    const groups = this.#options.groups().filter((group) => this.#wants(group, entry));
    await publish({ type: "image.failed", actor: "host", data: { image, packages, reason, groups, again } });
  }

  #wants(group: string, { name }: Entry): boolean {
    const wanted = this.#wantedBy(group);
    return wanted !== undefined && nameOfPackages(name.base, wanted).hash === name.hash;
  }

  /**
   * Names the image so that it is not pruned and is known after a restart. Failing to name it does not prevent its use.
   */
  async #noteUse(group: string, image: EngineImage): Promise<void> {
    const { tag, instance, logger } = this.#options;
    await tag(image.id, tagOfUser(instance, group)).catch((error: unknown) =>
      logger.warn({ err: toError(error), group }, "an image with packages could not be marked as used"),
    );
  }
}

function stateOf(group: string, { name, image, failed, work }: Entry): GroupImageState {
  const state = image ? "ready" : failed && !work ? "failed" : "building";
  const reason = state === "failed" ? failed?.reason : undefined;
  return { group, state, image: name.tag, packages: name.lists, reason };
}

/** Resolves when it has, and keeps nothing that does not go with the signal. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
