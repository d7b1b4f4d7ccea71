import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";

import { bundle, workers } from "./steps/bundle.ts";
import { oldestStartFrom, removeOldBuilds } from "./steps/old-builds.ts";

/**
 * Puts the sources and most of the dependencies into few files in dist/host, which start in two thirds of the time:
 * Node looks for each file of a module, and for what it belongs to, one by one. Nothing is made smaller: it would save
 * next to nothing, and traces could not be read any more. Run by scripts/setup, which sees to it that only one is at
 * work; scripts/find-program decides which of both is run.
 */
const checkoutFolder = resolve(import.meta.dirname, "..");
const outputFolder = join(checkoutFolder, "dist", "host");

// What Node keeps compiled is kept by names, and those of parts that have changed are new.
await rm(join(checkoutFolder, "dist", "compile-cache"), { recursive: true, force: true });
const built = await bundle({ programs: { main: "src/main.ts", ...workers }, folder: outputFolder, last: "main" });
// A host of an earlier build that still runs loads parts of it when they are first needed.
const oldestStart = await oldestStartFrom(outputFolder);
await removeOldBuilds({ folder: outputFolder, built, now: Date.now(), oldestStart });
