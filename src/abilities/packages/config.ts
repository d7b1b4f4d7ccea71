import * as z from "zod";

import {
  browserVariant,
  type ImageWish,
  mostPackages,
  packageFault,
  type PackageManager,
  sortPackages,
} from "../../domain/sandbox/packages.ts";

/** Names of packages of this manager, some with a version. */
export function packageNames(manager: PackageManager) {
  const name = z.string().superRefine((text, context) => {
    const fault = packageFault(manager, text);
    if (fault !== undefined) context.addIssue(fault);
  });
  return z.array(name).max(mostPackages);
}

const wish = z
  .strictObject({
    apt: packageNames("apt").default([]).describe("Debian packages."),
    pip: packageNames("pip").default([]).describe("Python packages."),
    npm: packageNames("npm").default([]).describe("npm packages."),
    browser: z.boolean().default(false).describe("A browser, as `image: browser` says without packages besides."),
  })
  .transform(({ browser, ...lists }): ImageWish => ({ ...sortPackages(lists), ...(browser && { browser: true }) }));

/** `image` of a group: packages on top of the agent image, or a word for a variant of it. */
const image = z
  .union([z.literal(browserVariant).transform((): ImageWish => ({ ...sortPackages({}), browser: true })), wish])
  .optional()
  .describe("`browser`, or packages that the group's containers have besides. Left out: the agent image alone.");

/** The key `image` of groups. */
export const packagesConfig = { top: {}, ofGroup: { image }, effects: {} } as const;
