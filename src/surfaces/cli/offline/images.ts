import { existsSync } from "node:fs";

import { withAddedGroups } from "../../../config/configured/added-groups.ts";
import type { Adapters } from "../../../config/adapters.ts";
import type { Environment } from "../../../config/environment.ts";
import { resolveGroup } from "../../../config/resolve-group.ts";
import { homePaths, readInstance } from "../../../config/home/home.ts";
import { loadConfig } from "../../../config/loading/load.ts";
import type { Group } from "../../../domain/chats/group.ts";
import { toError } from "../../../lib/app-error.ts";
import { visible } from "../../../lib/text/visible.ts";
import type { ImageBuildView, ImageNeeds } from "../../../operations/images/operations.ts";
import { openEngine, openImageBuilder } from "../../../sandbox/engine/catalog.ts";
import { findAgentImage } from "../../../sandbox/images/agent-image.ts";
import { listPackageImages, prunePackageImages, type WantedPackages } from "../../../sandbox/images/image-shelf.ts";
import { findMirrors } from "../../../sandbox/images/mirrors.ts";
import {
  buildPackageImage,
  failingLine,
  findPackageImage,
  type PackageBuildOptions,
  readBaseOnce,
} from "../../../sandbox/images/package-image.ts";
import { nameOfPackages } from "../../../sandbox/images/package-recipe.ts";
import { openStoreReader } from "../../../stores/catalog.ts";
import type { CommandContext } from "../context.ts";

/** Works on the engine itself, for the next start of a host. Steps of builds are reported on stderr. */
export async function openImages(context: CommandContext): Promise<ImageNeeds & AsyncDisposable> {
  const { environment, streams } = context;
  const adapters = await context.adapters();
  const progress = (line: string): void => {
    if (line.startsWith("Step ")) streams.stderr.write(`crabpot: ${visible(line.slice(0, 120))}\n`);
  };
  await using opening = new AsyncDisposableStack();
  const surroundings = { env: environment.variables, homeFolder: environment.userHome };
  const engine = opening.use(await openEngine(surroundings));
  const builder = await openImageBuilder(surroundings);
  const { id: base } = await findAgentImage(engine, environment.checkout);
  const { groups, wanted } = await wantedNow(environment, adapters);
  const instance = (await readInstance(homePaths(environment.crabpotHome).instance)) ?? "none";
  const home = { instance, base, wanted };
  const contents = readBaseOnce(() => Promise.resolve(builder));
  const work = async (): Promise<PackageBuildOptions> => ({
    engine,
    builder,
    mirrors: await findMirrors(surroundings),
    baseContents: () => contents(base),
    progress,
    signal: new AbortController().signal,
  });
  const owned = opening.move();
  return {
    groups: { list: () => groups.map((name) => ({ name })) },
    images: {
      states: () => [],
      list: () => listPackageImages(builder, home),
      build: async (group) => {
        const one = wanted.find((each) => each.group === group);
        return one && (await build(one, base, work));
      },
      prune: () => prunePackageImages(builder, { ...home, now: Date.now() }, () => Promise.resolve()),
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function build(
  { group, packages }: WantedPackages,
  base: string,
  work: () => Promise<PackageBuildOptions>,
): Promise<ImageBuildView> {
  const name = nameOfPackages(base, packages);
  try {
    const options = await work();
    if (!(await findPackageImage(options.engine, name))) await buildPackageImage(name, options);
    return { group, image: name.tag, state: "ready" };
  } catch (error) {
    return { group, image: name.tag, state: "failed", reason: failingLine(toError(error)) };
  }
}

/** Wanted images of configured and added groups. */
async function wantedNow({ crabpotHome, variables }: Environment, adapters: Adapters) {
  const paths = homePaths(crabpotHome);
  const loaded = await loadConfig(paths.config, variables, adapters);
  const stored = existsSync(paths.database) ? await storedGroups(paths.database) : [];
  const { config } = withAddedGroups({ config: loaded.config, adapters }, stored, variables);
  const groups: Group["name"][] = Object.keys(config.groups);
  const wanted = groups.flatMap((group): WantedPackages[] => {
    const packages = resolveGroup(config, { name: group }).packages;
    return packages ? [{ group, packages }] : [];
  });
  return { groups, wanted };
}

async function storedGroups(path: string) {
  await using store = await openStoreReader({ path });
  return await store.groups.list();
}
