import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";

import { bundle, workers } from "./steps/bundle.ts";
import { oldestStartFrom, removeOldBuilds } from "./steps/old-builds.ts";

/**
 * Bundles the sources and most dependencies into few files in dist/host, which start in two thirds of the time because
 * Node looks up each module file. Not minified: that would save little and make traces unreadable. Run by scripts/setup
 * under a lock; scripts/find-program chooses between both.
 */
const checkoutFolder = resolve(import.meta.dirname, "..");
const outputFolder = join(checkoutFolder, "dist", "host");

// What Node keeps compiled is kept by names, and those of parts that have changed are new.
await rm(join(checkoutFolder, "dist", "compile-cache"), { recursive: true, force: true });
const built = await bundle({ programs: { main: "src/main.ts", ...workers }, folder: outputFolder, last: "main" });
// A host of an earlier build that still runs loads parts of it when they are first needed.
const oldestStart = await oldestStartFrom(outputFolder);
await removeOldBuilds({ folder: outputFolder, built, now: Date.now(), oldestStart });
