import { countPackages, describePackages } from "../../domain/sandbox/packages.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import { toError } from "../../lib/app-error.ts";
import { memoize } from "../../lib/memoize.ts";
import type { ImageNeeds } from "../../operations/images/operations.ts";
import { openImageBuilder } from "../../sandbox/engine/catalog.ts";
import type { ContainerEngine } from "../../sandbox/engine/engine.ts";
import type { ImageBuilder } from "../../sandbox/engine/image-builder.ts";
import { GroupImages, type GroupImagesOptions } from "../../sandbox/images/group-images.ts";
import { listPackageImages, listsOf, prunePackageImages } from "../../sandbox/images/image-shelf.ts";
import { findMirrors } from "../../sandbox/images/mirrors.ts";
import { buildPackageImage, type EngineImage, readBaseOnce } from "../../sandbox/images/package-image.ts";
import type { ImageFacts } from "../../sandbox/launch/spec.ts";
import type { SessionPool } from "../../sandbox/pool/pool.ts";
import type { AppContext } from "../context.ts";

export interface Images {
  /** What a container of the group is made from now. */
  readonly imageOf: (group: string) => Promise<ImageFacts>;
  readonly ready: GroupImages["ready"];
  /** Begins to build what is wanted and not there. */
  readonly review: () => Promise<void>;
  /** What an agent is told of the packages that its group wanted and could not get. */
  readonly hasFailed: (group: string) => boolean;
  readonly operations: ImageNeeds["images"];
}

/** The images of groups that want packages. Nothing of it is at work for the others. */
export function createImages(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: {
    readonly engine: ContainerEngine;
    /** The agent image. */
    readonly base: () => Promise<EngineImage>;
    readonly groups: Pick<GroupRegistry, "list" | "byName">;
    readonly pool: () => Pick<SessionPool, "endOutdated">;
  },
): Images {
  const { live, home, environment, publish, clock, logger } = context;
  const { engine, base, groups } = options;
  const surroundings = { env: environment.variables, homeFolder: environment.userHome };
  const builder = memoize(() => openImageBuilder(surroundings));
  const images = stack.use(
    new GroupImages({
      instance: home.instance,
      base,
      engine,
      build: createBuild(context, engine, builder),
      tag: async (id, tag) => (await builder()).tag(id, tag),
      wantedBy: (group) => live.groupOf({ name: group }).packages,
      groups: () => groups.list().map(({ name }) => name),
      changed: () => options.pool().endOutdated((name) => groups.byName(name)),
      publish,
      now: () => clock.monotonic(),
      logger,
    }),
  );
  const homeNow = async () => ({
    instance: home.instance,
    base: (await base()).id,
    wanted: groups.list().flatMap(({ name: group }) => {
      const packages = live.groupOf({ name: group }).packages;
      return packages ? [{ group, packages }] : [];
    }),
  });
  return {
    imageOf: async (group) => withPackages(await images.imageOf(group)),
    ready: (group, signal, wait) => images.ready(group, signal, wait),
    review: () =>
      images.review().catch((error: unknown) => {
        logger.warn({ err: toError(error) }, "images with packages could not be looked for");
      }),
    hasFailed: (group) => images.hasFailed(group),
    operations: {
      states: () => images.states(),
      build: (group) => images.build(group),
      list: async () => listPackageImages(await builder(), await homeNow()),
      prune: async () =>
        prunePackageImages(await builder(), { ...(await homeNow()), now: clock.now() }, (image) =>
          publish({ type: "image.removed", actor: "operator", data: { image } }),
        ),
    },
  };
}

/** Mirrors and what is trusted are looked up anew for each build: they are files of the operator's. */
function createBuild(
  { environment, logger }: Pick<AppContext, "environment" | "logger">,
  engine: ContainerEngine,
  builder: () => Promise<ImageBuilder>,
): GroupImagesOptions["build"] {
  const baseContents = readBaseOnce(builder);
  return async (name, signal) => {
    const mirrors = await findMirrors({ env: environment.variables, homeFolder: environment.userHome });
    const progress = (line: string): void => logger.debug({ image: name.tag }, line);
    const work = { engine, builder: await builder(), mirrors, progress, signal };
    return buildPackageImage(name, { ...work, baseContents: () => baseContents(name.base) });
  };
}

function withPackages(image: EngineImage): ImageFacts {
  const lists = listsOf(image.labels);
  return countPackages(lists) === 0 ? image : { ...image, packages: describePackages(lists) };
}
