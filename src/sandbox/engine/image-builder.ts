import type { Readable } from "node:stream";

/** Called with each line that the engine reports about a long piece of work. */
export type OnBuildLine = (line: string) => void;

export interface BuildOptions {
  readonly tag: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly buildArguments: Readonly<Record<string, string>>;
  /** Memory limit of each step, swap included; unlimited by default. */
  readonly memoryMb?: number | undefined;
  /** Aborts the build; its result stays unnamed. */
  readonly signal?: AbortSignal | undefined;
}

/** An image as a list shows it. */
export interface ListedImage {
  readonly id: string;
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** With all that lies below it. */
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** Makes images: for set-up, and for groups that want packages. Errors are those of `ContainerEngine`. */
export interface ImageBuilder {
  /**
   * Pulls an image by `name:tag@digest` or `name:tag`. Gives up with `engine_unavailable` after that long without any
   * progress.
   */
  pull(reference: string, stallLimitMs: number, progress: OnBuildLine): Promise<void>;
  /** Makes an image of one layer from a tar archive of a root file system. */
  importRoot(archive: Readable, tag: string): Promise<void>;
  /** Builds an image from a tar archive with a `Dockerfile` in it. */
  build(archive: Readable, options: BuildOptions, progress: OnBuildLine): Promise<void>;
  /** Gives an image one more name. */
  tag(id: string, tag: string): Promise<void>;
  /** Images with that label, each with all its names. */
  list(label: string): Promise<ListedImage[]>;
  /**
   * Streams an image's file system as a tar archive, from a container that never runs and is then removed, together
   * with leftovers of earlier calls.
   */
  read<Answer>(id: string, look: (archive: Readable) => Promise<Answer>, signal: AbortSignal): Promise<Answer>;
  /**
   * Takes a name off an image, and removes the image if that was its last. False when a container needs it, or it is
   * gone.
   */
  remove(tag: string): Promise<boolean>;
}
