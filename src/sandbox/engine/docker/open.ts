import type { Surroundings } from "../surroundings.ts";
import { askVersion } from "./ask-version.ts";
import { DockerEngine } from "./docker-engine.ts";
import { DockerImageBuilder } from "./docker-image-builder.ts";
import { locateEngine } from "./locate.ts";

/** The engine that `locateEngine` finds. */
export async function openDockerEngine(surroundings: Surroundings): Promise<DockerEngine> {
  return new DockerEngine(await locateEngine(surroundings, askVersion));
}

/** The same engine, for making images. */
export async function openDockerImageBuilder(surroundings: Surroundings): Promise<DockerImageBuilder> {
  return new DockerImageBuilder(await locateEngine(surroundings, askVersion));
}
