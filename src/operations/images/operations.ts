import * as z from "zod";

import type { Group } from "../../domain/chats/group.ts";
import { describePackages, type PackageLists } from "../../domain/sandbox/packages.ts";
import { formatBytes } from "../../lib/text/bytes.ts";
import { visible } from "../../lib/text/visible.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { requireGroup } from "../lookup/require-group.ts";
import { list, nothing, onlyGroup, time } from "../definition/schemas.ts";

/** An image with packages, as the operator sees it. */
const imageView = z.strictObject({
  image: z.string().describe("`crabpot-agent-packages:…`"),
  state: z
    .enum(["ready", "building", "failed", "wanted", "unused"])
    .describe("wanted: still to be built; unused: no group of this home asks for it"),
  packages: z.strictObject({ apt: list(z.string()), pip: list(z.string()), npm: list(z.string()) }),
  groups: list(z.string()),
  id: z.string().optional().describe("Of the engine: `sha256:…`"),
  bytes: z.number().optional().describe("With all layers below it"),
  createdAt: time.optional(),
  reason: z.string().optional().describe("Why it could not be built"),
});

type ImageView = z.infer<typeof imageView>;

/** The result of a build for a group. */
export const imageBuildView = z.strictObject({
  group: z.string(),
  image: z.string(),
  state: z.enum(["ready", "building", "failed"]),
  reason: z.string().optional(),
});

export type ImageBuildView = z.infer<typeof imageBuildView>;

interface ShelvedImage {
  readonly image: string;
  readonly packages: PackageLists;
  readonly groups: readonly string[];
  readonly built: { readonly id: string; readonly bytes: number; readonly createdAt: number } | undefined;
}

/** The parts that list, build and remove images with packages. */
export interface ImageNeeds {
  readonly groups: { list(): readonly Pick<Group, "name">[] };
  readonly images: {
    /** States of the groups that want packages, as far as known. */
    states(): readonly ImageBuildView[];
    /** Builds the group's image; undefined when it wants none. */
    build(group: string): Promise<ImageBuildView | undefined>;
    list(): Promise<readonly ShelvedImage[]>;
    prune(): Promise<readonly string[]>;
  };
}

export const listImages = defineOperation<ImageNeeds>()({
  name: "image.list",
  summary: "list images with packages",
  input: nothing,
  output: list(imageView),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /images",
  listAs: "images",
  offline: true,
  cli: {
    table: [
      "image",
      { title: "state", of: ({ state, reason }) => (reason === undefined ? state : `${state}: ${reason}`) },
      "groups",
      { title: "size", of: ({ bytes }) => (bytes === undefined ? "" : formatBytes(bytes)) },
      { field: "createdAt", title: "built (UTC)" },
      { title: "packages", of: ({ packages }) => describePackages(packages), fills: true },
    ],
    none: () => "There are no images with packages.",
  },
  run: async ({ images }) => (await images.list()).map((image) => viewImage(image, images.states())),
});

export const buildImages = defineOperation<ImageNeeds>()({
  name: "image.build",
  summary: "build missing images, of one group or of all",
  input: z.strictObject({ group: onlyGroup }),
  output: list(imageBuildView),
  may: { scope: "admin" },
  effect: "change",
  isLong: true,
  offline: true,
  cli: {
    say: (built, { group }) =>
      built.map(describeBuild).join("\n") ||
      (group === undefined ? "No group has packages." : `The group ${group} has no packages.`),
    fails: (built) => built.some(({ state }) => state !== "ready"),
  },
  run: async ({ groups, images }, { group }) => {
    const names =
      group === undefined ? groups.list().map((each) => each.name) : [requireGroup(groups.list(), group).name];
    const built: ImageBuildView[] = [];
    for (const each of names) {
      const state = await images.build(each);
      if (state) built.push(viewBuild(state));
    }
    return built;
  },
});

export const pruneImages = defineOperation<ImageNeeds>()({
  name: "image.prune",
  summary: "remove images that no group asks for",
  input: nothing,
  output: list(z.strictObject({ image: z.string(), state: z.literal("removed") })),
  may: { scope: "admin" },
  effect: "change",
  offline: true,
  cli: { say: (removed) => removed.map(({ image }) => `removed ${image}`).join("\n") || "Nothing to remove." },
  run: async ({ images }) => (await images.prune()).map((image) => ({ image, state: "removed" as const })),
});

function viewImage({ image, packages, groups, built }: ShelvedImage, states: readonly ImageBuildView[]): ImageView {
  const known = states.find((state) => state.image === image);
  const state = groups.length === 0 ? "unused" : built ? "ready" : (known?.state ?? "wanted");
  return {
    image,
    state,
    packages,
    groups,
    ...built,
    ...(state === "failed" && { reason: known?.reason }),
  };
}

/** Builds of groups whose packages are missing. */
export function listUnready(images: Pick<ImageNeeds["images"], "states">): ImageBuildView[] {
  return images.states().flatMap((state) => (state.state === "ready" ? [] : [viewBuild(state)]));
}

function describeBuild({ group, image, state, reason }: ImageBuildView): string {
  return `${group}: ${image} ${state}${reason === undefined ? "" : `: ${visible(reason)}`}`;
}

function viewBuild({ group, image, state, reason }: ImageBuildView): ImageBuildView {
  return { group, image, state, ...(reason !== undefined && { reason }) };
}

/** Operations on images with packages. */
export const imageOperations = [listImages, buildImages, pruneImages] as const;
