import type { ContainerEngine } from "./engine.ts";
import type { ImageBuilder } from "./image-builder.ts";
import type { Surroundings } from "./surroundings.ts";

/* Docker's and Podman's sockets speak the same API and share one adapter, which is loaded when it is needed. */

/**
 * The container engine of this machine. Throws `engine_unavailable`, naming every place that was tried, when none
 * answers or the one that is named does not; `setup_required` when the environment names one that can never be used.
 */
export async function openEngine(surroundings: Surroundings): Promise<ContainerEngine> {
  const { openDockerEngine } = await import("./docker/open.ts");
  return openDockerEngine(surroundings);
}

/**
 * Kind and version of the same engine, such as `docker 29.1.0`, for who asks it nothing else. Throws like `openEngine`.
 */
export async function readEngineVersion(surroundings: Surroundings): Promise<string> {
  const { readDockerVersion } = await import("./docker/ask-version.ts");
  return readDockerVersion(surroundings);
}

/** The same engine, for making images: only set-up needs it. Throws like `openEngine`. */
export async function openImageBuilder(surroundings: Surroundings): Promise<ImageBuilder> {
  const { openDockerImageBuilder } = await import("./docker/open.ts");
  return openDockerImageBuilder(surroundings);
}
