import { readdir } from "node:fs/promises";

import { AppError, errorCode } from "../../lib/app-error.ts";

/** State of a folder that is to be a home: `new` when nothing has started in it yet. */
export type HomeState = "missing" | "new" | "home";

/** Files that only a start makes. */
const madeByStart = ["instance", "crabpot.sqlite"];

/** Files that people keep beside their configuration, and what file systems put into a new folder. */
const besideConfig = /^(?:\.git.*|\.env|\.DS_Store|lost\+found|README(?:\.md)?|LICENSE)$/;

/**
 * Looks at the path of a home. Throws `setup_required` for a folder that holds anything that a home does not:
 * a mistyped `CRABPOT_HOME` must not fill, or shut others out of, a folder that has another purpose.
 */
export async function homeState(root: string, placesInHome: readonly string[]): Promise<HomeState> {
  const names = await readdir(root).catch((cause: unknown) => {
    if (errorCode(cause) === "ENOENT") return undefined;
    const reason = errorCode(cause) === "ENOTDIR" ? "is not a folder" : "cannot be read";
    throw new AppError("setup_required", `The home ${root} ${reason}.`, { cause, fix });
  });
  if (names === undefined) return "missing";
  if (madeByStart.some((name) => names.includes(name))) return "home";
  // Drafts, and marks of a command at work, stay beside their place where it was killed.
  const isKnown = (name: string) => placesInHome.some((place) => name === place || name.startsWith(`${place}.`));
  const foreign = names.find((name) => !isKnown(name) && !besideConfig.test(name));
  if (foreign === undefined) return "new";
  const what = `${root} is no home of crabpot, and not empty: it holds ${JSON.stringify(foreign)}`;
  throw new AppError("setup_required", `${what}. Nothing was changed.`, { fix });
}

const fix = "Set CRABPOT_HOME to a home, or to an empty or new folder. Without it, the home is ~/.crabpot.";
