import { defineAbility } from "../define-ability.ts";
import { packagesConfig } from "./config.ts";
import type { PackageNeeds } from "./package-requests.ts";
import { requestPackages } from "./request-packages.ts";

/** Installs packages into images of groups, and lets agents ask for some. */
export const packages = defineAbility<PackageNeeds>()({
  name: "packages",
  config: packagesConfig,
  tools: [requestPackages],
  start: async (needs) => {
    const { PackageRequests } = await import("./package-requests.ts");
    return new PackageRequests(needs);
  },
});
