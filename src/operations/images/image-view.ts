import type { PackageLists } from "../../domain/packages.ts";

/** An image with packages, as the operator sees it. */
export interface ImageView {
  /** `crabpot-agent-packages:…` */
  readonly image: string;
  /** `wanted`: it is to be built; `unused`: no group of this home asks for it. */
  readonly state: "ready" | "building" | "failed" | "wanted" | "unused";
  readonly packages: PackageLists;
  readonly groups: readonly string[];
  /** Of the engine: `sha256:…`, with what lies below it in bytes, and when it was built, milliseconds since 1970. */
  readonly id?: string | undefined;
  readonly bytes?: number | undefined;
  readonly createdAt?: number | undefined;
  /** Why it could not be built. */
  readonly reason?: string | undefined;
}

/** What became of a wish to build. */
export interface ImageBuildView {
  readonly group: string;
  readonly image: string;
  readonly state: "ready" | "building" | "failed";
  readonly reason?: string | undefined;
}

/** What the operator can do with images of packages. */
export interface ImageOperations {
  listImages(): Promise<readonly ImageView[]>;
  /** Builds what this group wants, or all groups do, and is not there; ends when that has ended. Rejects with `not_found`. */
  buildImages(group: string | undefined): Promise<readonly ImageBuildView[]>;
  /** Removes images that no group asks for. Returns the names that are gone. */
  pruneImages(): Promise<readonly string[]>;
}
