import { join } from "node:path";

import { programsFolder } from "./programs.ts";

/**
 * Stands for `src/lib/process/own-module.ts` in the process of tests: a host there starts its processes and threads
 * from what is built, as a user's host does, in a third of the time that their sources take.
 */
function builtModule(name: string): string {
  return join(programsFolder, `${name}.mjs`);
}

export { builtModule as ownModule };
