import { type PackageLists, sortPackages } from "../../domain/sandbox/packages.ts";
import type { ImageBuilder, ListedImage } from "../engine/image-builder.ts";
import { packageBuildLimits } from "./package-image.ts";
import { nameOfPackages, packageLabels, packagesRepository, tagOfUser } from "./package-recipe.ts";

/** A group and what it wants in its image. */
export interface WantedPackages {
  readonly group: string;
  readonly packages: PackageLists;
}

/** An image with packages that the engine has, or that a group wants. */
export interface ShelvedImage {
  readonly image: string;
  readonly packages: PackageLists;
  /** Groups of this home that want it. */
  readonly groups: readonly string[];
  /** The built image; undefined when the engine lacks it. */
  readonly built: { readonly id: string; readonly bytes: number; readonly createdAt: number } | undefined;
}

interface Home {
  readonly instance: string;
  /** Id of the agent image. */
  readonly base: string;
  readonly wanted: readonly WantedPackages[];
}

/** All images with packages: those that groups want first, then what else the engine has. */
export async function listPackageImages(builder: Pick<ImageBuilder, "list">, home: Home): Promise<ShelvedImage[]> {
  const found = await builder.list(packageLabels.hash);
  const names = new Map(
    home.wanted.map(({ packages }) => nameOfPackages(home.base, packages)).map((name) => [name.hash, name]),
  );
  const wanted = [...names.values()].map(({ hash, tag, lists }): ShelvedImage => {
    const image = found.find(({ labels, tags }) => labels[packageLabels.hash] === hash && tags.includes(tag));
    return {
      image: tag,
      packages: lists,
      groups: groupsOf(home, hash),
      built: image && builtOf(image),
    };
  });
  const others = found.flatMap((image): ShelvedImage[] => {
    const { labels, tags } = image;
    const hash = labels[packageLabels.hash] ?? "";
    const name = tags.find((tag) => namePattern.test(tag)) ?? tags[0];
    if (name === undefined || names.has(hash)) return [];
    return [{ image: name, packages: listsOf(labels), groups: [], built: builtOf(image) }];
  });
  return [...wanted, ...others];
}

/**
 * Removes names from unused images, and with the last name the image. Keeps images wanted or still used by a group of
 * this home, by another home on this machine, or by a container. Calls `about` before each removal.
 */
export async function prunePackageImages(
  builder: Pick<ImageBuilder, "list" | "remove">,
  home: Home & { readonly now: number },
  about: (image: string) => Promise<void>,
): Promise<string[]> {
  const hashes = new Set(home.wanted.map(({ packages }) => nameOfPackages(home.base, packages).hash));
  const users = new Set(home.wanted.map(({ group }) => tagOfUser(home.instance, group)));
  const ours = tagOfUser(home.instance, "");
  const removed: string[] = [];
  for (const { tags, labels, createdAt } of await builder.list(packageLabels.hash)) {
    const isOld = createdAt < home.now - packageBuildLimits.minutes * 60_000;
    const left = tags.filter(
      (tag) => (tag.startsWith(ours) && !users.has(tag)) || (isOld && uncheckedPattern.test(tag)),
    );
    const isUsed = tags.some((tag) => usedPattern.test(tag) && !left.includes(tag));
    const isWanted = hashes.has(labels[packageLabels.hash] ?? "");
    const names = isUsed || isWanted ? [] : tags.filter((tag) => namePattern.test(tag));
    for (const tag of [...left, ...names]) {
      await about(tag);
      if (await builder.remove(tag)) removed.push(tag);
    }
  }
  return removed;
}

const namePattern = new RegExp(`^${packagesRepository}:[0-9a-f]{16}$`);
const uncheckedPattern = new RegExp(`^${packagesRepository}:[0-9a-f]{16}-unchecked$`);
const usedPattern = new RegExp(`^${packagesRepository}:used-`);

function groupsOf({ wanted, base }: Home, hash: string): string[] {
  return wanted.filter(({ packages }) => nameOfPackages(base, packages).hash === hash).map(({ group }) => group);
}

/** Reads the packages from an image's labels, which anyone who makes images on this engine could have forged. */
export function listsOf(labels: Readonly<Record<string, string>>): PackageLists {
  try {
    const said = JSON.parse(labels[packageLabels.lists] ?? "{}") as Record<string, unknown>;
    return sortPackages({ apt: textsIn(said["apt"]), pip: textsIn(said["pip"]), npm: textsIn(said["npm"]) });
  } catch {
    return sortPackages({});
  }
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}

function builtOf({ id, bytes, createdAt }: ListedImage): NonNullable<ShelvedImage["built"]> {
  return { id, bytes, createdAt };
}
