import type { ContainerEngine } from "./engine.ts";
import type { ImageBuilder } from "./image-builder.ts";
import type { Surroundings } from "./surroundings.ts";

/** A kind of container engine. Has no settings: the environment locates it. */
export interface EngineDefinition {
  readonly kind: string;
  /**
   * Rejects with `engine_unavailable`, naming every place that was tried, when none answers or the one that is named
   * does not; with `setup_required` when the one that is named can never be used.
   */
  open(surroundings: Surroundings): Promise<ContainerEngine>;
  /** Kind and version of the same engine. Rejects like `open`. */
  readVersion(surroundings: Surroundings): Promise<string>;
  /** The same engine, for making images. Rejects like `open`. */
  openImageBuilder(surroundings: Surroundings): Promise<ImageBuilder>;
}

/** Describes a kind of container engine. Its module should load quickly: `open` imports the rest. */
export function defineEngine(definition: EngineDefinition): EngineDefinition {
  return definition;
}
