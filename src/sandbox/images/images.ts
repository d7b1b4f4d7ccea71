import type { Logger } from "pino";

import { countPackages, describePackages, type PackageLists } from "../../domain/sandbox/packages.ts";
import type { Publish } from "../../domain/events/event.ts";
import { toError } from "../../lib/app-error.ts";
import { memoize } from "../../lib/memoize.ts";
import { Signal } from "../../lib/signal.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { openImageBuilder } from "../engine/catalog.ts";
import type { ContainerEngine } from "../engine/engine.ts";
import type { ImageBuilder } from "../engine/image-builder.ts";
import type { ImageFacts } from "../launch/spec.ts";
import { GroupImages, type GroupImagesOptions, type GroupImageState } from "./group-images.ts";
import { listPackageImages, listsOf, prunePackageImages, type ShelvedImage } from "./image-shelf.ts";
import { findMirrors } from "./mirrors.ts";
import { buildPackageImage, type EngineImage, readBaseOnce } from "./package-image.ts";

type Surroundings = Parameters<typeof openImageBuilder>[0];

interface ImagesOptions {
  readonly instance: string;
  readonly engine: ContainerEngine;
  /** Returns the agent image. */
  readonly base: () => Promise<EngineImage>;
  readonly surroundings: Surroundings;
  readonly groups: () => readonly string[];
  /** Returns the packages that the group wants; undefined for the plain agent image. */
  readonly packagesOf: (group: string) => PackageLists | undefined;
  readonly publish: Publish;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The images of groups that want packages. It does nothing for the others. */
export class Images implements AsyncDisposable {
  /** Emits when there is a new image: containers may not be what their groups get now. */
  readonly changed = new Signal();
  readonly #options: ImagesOptions;
  readonly #groupImages: GroupImages;
  readonly #builder: () => Promise<ImageBuilder>;

  constructor(options: ImagesOptions) {
    this.#options = options;
    this.#builder = memoize(() => openImageBuilder(options.surroundings));
    const { instance, engine, base, groups, packagesOf, publish, clock, logger } = options;
    this.#groupImages = new GroupImages({
      instance,
      base,
      engine,
      build: createBuild(options, this.#builder),
      tag: async (id, tag) => (await this.#builder()).tag(id, tag),
      wantedBy: packagesOf,
      groups,
      changed: () => void this.changed.emit(),
      publish,
      now: () => clock.monotonic(),
      logger,
    });
  }

  /** Returns what a container of the group is made from now. */
  async imageOf(group: string): Promise<ImageFacts> {
    const image = await this.#groupImages.imageOf(group);
    const lists = listsOf(image.labels);
    return countPackages(lists) === 0 ? image : { ...image, packages: describePackages(lists) };
  }

  ready(...given: Parameters<GroupImages["ready"]>): ReturnType<GroupImages["ready"]> {
    return this.#groupImages.ready(...given);
  }

  /** Begins to build the missing images that groups want. Never rejects. */
  async review(): Promise<void> {
    await this.#groupImages.review().catch((error: unknown) => {
      this.#options.logger.warn({ err: toError(error) }, "could not look for images with packages");
    });
  }

  /** True when the group wanted packages and could not get them. */
  hasFailed(group: string): boolean {
    return this.#groupImages.hasFailed(group);
  }

  states(): readonly GroupImageState[] {
    return this.#groupImages.states();
  }

  build(group: string): ReturnType<GroupImages["build"]> {
    return this.#groupImages.build(group);
  }

  async list(): Promise<readonly ShelvedImage[]> {
    return listPackageImages(await this.#builder(), await this.#wantedNow());
  }

  async prune(): ReturnType<typeof prunePackageImages> {
    const { clock, publish } = this.#options;
    const wanted = { ...(await this.#wantedNow()), now: clock.now() };
    return prunePackageImages(await this.#builder(), wanted, (image) =>
      publish({ type: "image.removed", actor: "operator", data: { image } }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#groupImages[Symbol.asyncDispose]();
  }

  async #wantedNow(): Promise<Parameters<typeof listPackageImages>[1]> {
    const { instance, base, groups, packagesOf } = this.#options;
    const wanted = groups().flatMap((group) => {
      const packages = packagesOf(group);
      return packages ? [{ group, packages }] : [];
    });
    return { instance, base: (await base()).id, wanted };
  }
}

/** Looks up mirrors and trusted certificates anew for each build: they are files of the operator's. */
function createBuild(
  { surroundings, engine, logger }: Pick<ImagesOptions, "surroundings" | "engine" | "logger">,
  builder: () => Promise<ImageBuilder>,
): GroupImagesOptions["build"] {
  const baseContents = readBaseOnce(builder);
  return async (name, signal) => {
    const mirrors = await findMirrors(surroundings);
    const progress = (line: string): void => logger.debug({ image: name.tag }, line);
    const work = { engine, builder: await builder(), mirrors, progress, signal };
    return buildPackageImage(name, { ...work, baseContents: () => baseContents(name.base) });
  };
}
