import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import type { Sources } from "./related-tests.ts";

/** Returns what git knows of this checkout, or would know after `git add`. */
export function sourcesOfCheckout(): Sources {
  const folder = resolve(import.meta.dirname, "../..");
  const words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const listed = execFileSync("git", words, { cwd: folder, encoding: "utf8", maxBuffer: 2 ** 26 }).split("\0");
  return { folder, files: listed.filter((path) => path !== "" && existsSync(join(folder, path))) };
}
