import type { Group } from "../../domain/group.ts";
import type { PackageLists } from "../../domain/packages.ts";
import { requireGroup } from "../require-group.ts";
import type { ImageBuildView, ImageOperations, ImageView } from "./image-view.ts";

interface Shelved {
  readonly image: string;
  readonly packages: PackageLists;
  readonly groups: readonly string[];
  readonly built: { readonly id: string; readonly bytes: number; readonly createdAt: number } | undefined;
}

export interface ImageOperationOptions {
  readonly groups: { list(): readonly Group[] };
  readonly images: {
    /** Of groups that want packages, as far as it is known. */
    states(): readonly ImageBuildView[];
    /** Undefined: the group wants none. */
    build(group: string): Promise<ImageBuildView | undefined>;
    list(): Promise<readonly Shelved[]>;
    prune(): Promise<readonly string[]>;
  };
}

/** Lists, builds and removes images with packages. */
export function createImageOperations({ groups, images }: ImageOperationOptions): ImageOperations {
  return {
    listImages: async () => (await images.list()).map((image) => viewImage(image, images.states())),
    buildImages: async (group) => {
      const names =
        group === undefined ? groups.list().map(({ name }) => name) : [requireGroup(groups.list(), group).name];
      const built: ImageBuildView[] = [];
      for (const name of names) {
        const state = await images.build(name);
        if (state) built.push(viewBuild(state));
      }
      return built;
    },
    pruneImages: () => images.prune(),
  };
}

/** An image of which it is known whether a host is building it, and what became of that. */
export function viewImage({ image, packages, groups, built }: Shelved, states: readonly ImageBuildView[]): ImageView {
  const known = states.find((state) => state.image === image);
  const state = groups.length === 0 ? "unused" : built ? "ready" : (known?.state ?? "wanted");
  return { image, state, packages, groups, ...built, ...(state === "failed" && { reason: known?.reason }) };
}

/** Of groups that want packages and have not got them. */
export function listUnready({ states }: Pick<ImageOperationOptions["images"], "states">): ImageBuildView[] {
  return states().flatMap((state) => (state.state === "ready" ? [] : [viewBuild(state)]));
}

function viewBuild({ group, image, state, reason }: ImageBuildView): ImageBuildView {
  return { group, image, state, ...(reason !== undefined && { reason }) };
}
