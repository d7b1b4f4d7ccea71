import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { bundle, workers } from "../../scripts/steps/bundle.ts";
import { oldestStartFrom, removeOldBuilds } from "../../scripts/steps/old-builds.ts";
import { programs, programsFolder } from "./programs.ts";

const checkoutFolder = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);
const isProgramBuilt = 'checkout=$0; . "$checkout/scripts/find-program"; find_program';
const areTestsBuilt =
  '[ -f "$1" ] && [ -z "$(cd "$0" && find src container test/support test/fixtures scripts package-lock.json -cnewer "$1" -print -quit 2>&1)" ]';
const last = "crashing-host";

/**
 * Run once before all tests: hundreds of commands and hosts start from what is built in a third of the time that the
 * sources take.
 */
export default async function buildFirst(): Promise<void> {
  if (!(await holds(isProgramBuilt, checkoutFolder))) {
    await run(process.execPath, [join(checkoutFolder, "scripts/build-program.ts")]);
  }
  if (await holds(areTestsBuilt, checkoutFolder, join(programsFolder, `${last}.mjs`))) return;
  const built = await bundle({ programs: { ...programs, ...workers }, folder: programsFolder, last });
  const oldestStart = await oldestStartFrom(programsFolder);
  await removeOldBuilds({ folder: programsFolder, built, now: Date.now(), oldestStart });
}

/** Does this condition of a shell hold? */
async function holds(condition: string, ...parameters: readonly string[]): Promise<boolean> {
  return run("sh", ["-c", condition, ...parameters]).then(
    () => true,
    () => false,
  );
}
