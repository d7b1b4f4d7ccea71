import type { ContainerEngine } from "./engine.ts";
import type { ImageBuilder } from "./image-builder.ts";
import type { Surroundings } from "./surroundings.ts";

/**
 * The container engine of this machine. Docker's and Podman's sockets speak the same API and share one adapter. Throws
 * `engine_unavailable`, naming every place that was tried, when none answers or the one that is named does not.
 */
export async function openEngine(surroundings: Surroundings): Promise<ContainerEngine> {
  const { openDockerEngine } = await import("./docker/open.ts");
  return openDockerEngine(surroundings);
}

/** The same engine, for making images: only set-up needs it. Throws like `openEngine`. */
export async function openImageBuilder(surroundings: Surroundings): Promise<ImageBuilder> {
  const { openDockerImageBuilder } = await import("./docker/open.ts");
  return openDockerImageBuilder(surroundings);
}
