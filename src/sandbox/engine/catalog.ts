import { defineEngine } from "./define-engine.ts";
import type { ContainerEngine } from "./engine.ts";
import type { ImageBuilder } from "./image-builder.ts";
import type { Surroundings } from "./surroundings.ts";

/** Docker's and Podman's sockets speak the same API and share one adapter. */
const docker = defineEngine({
  kind: "docker",
  open: async (surroundings) => {
    const { openDockerEngine } = await import("./docker/open.ts");
    return openDockerEngine(surroundings);
  },
  readVersion: async (surroundings) => {
    const { readDockerVersion } = await import("./docker/ask-version.ts");
    return readDockerVersion(surroundings);
  },
  openImageBuilder: async (surroundings) => {
    const { openDockerImageBuilder } = await import("./docker/open.ts");
    return openDockerImageBuilder(surroundings);
  },
});

/**
 * The container engine of this machine. Throws `engine_unavailable`, naming every place that was tried, and
 * `setup_required` when the environment names an engine that is not reached by a socket of this machine.
 */
export async function openEngine(surroundings: Surroundings): Promise<ContainerEngine> {
  return docker.open(surroundings);
}

/**
 * Kind and version of the same engine, such as `docker 29.1.0`, for who asks it nothing else. Throws like `openEngine`.
 */
export async function readEngineVersion(surroundings: Surroundings): Promise<string> {
  return docker.readVersion(surroundings);
}

/** The same engine, for making images: only set-up needs it. Throws like `openEngine`. */
export async function openImageBuilder(surroundings: Surroundings): Promise<ImageBuilder> {
  return docker.openImageBuilder(surroundings);
}
