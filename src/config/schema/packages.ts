import * as z from "zod";

import {
  browserVariant,
  type ImageWish,
  mostPackages,
  packageFault,
  type PackageManager,
  sortPackages,
} from "../../domain/sandbox/packages.ts";

function packagesOf(manager: PackageManager) {
  const name = z.string().superRefine((text, context) => {
    const fault = packageFault(manager, text);
    if (fault !== undefined) context.addIssue(fault);
  });
  return z.array(name).max(mostPackages).default([]);
}

/** Packages by manager: what `image` of a group says, and what an agent asks for. */
export const packageLists = {
  apt: packagesOf("apt").describe("Debian packages."),
  pip: packagesOf("pip").describe("Python packages."),
  npm: packagesOf("npm").describe("npm packages."),
};

const wish = z
  .strictObject({
    ...packageLists,
    browser: z.boolean().default(false).describe("A browser, as `image: browser` says without packages besides."),
  })
  .transform(({ browser, ...lists }): ImageWish => ({ ...sortPackages(lists), ...(browser && { browser: true }) }));

/** `image` of a group: packages on top of the agent image, or a word for a variant of it. */
export const groupImage = z
  .union([z.literal(browserVariant).transform((): ImageWish => ({ ...sortPackages({}), browser: true })), wish])
  .optional()
  .describe("`browser`, or packages that the group's containers have besides. Left out: the agent image alone.");
