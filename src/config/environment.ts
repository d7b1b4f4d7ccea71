import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Environment variables as they were when the process started. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Locations from the environment, as absolute paths. */
export interface Environment {
  readonly variables: EnvironmentVariables;
  /** The user's own home folder: what `~` means in paths. */
  readonly userHome: string;
  /** `CRABPOT_HOME`, or `.crabpot` in the user's home folder. */
  readonly crabpotHome: string;
  /** The folder that crabpot itself was started from: `groups/`, `package.json`, `dist/` are in it. */
  readonly checkout: string;
}

/** From here, and from dist/host as well: see scripts/build-program.ts. */
export const checkoutFolder = resolve(import.meta.dirname, "../..");

/** The only reader of the process environment. An empty variable counts as one that is not set. */
export function readEnvironment(variables: EnvironmentVariables = process.env): Environment {
  const userHome = variables["HOME"] || homedir();
  return {
    variables: { ...variables },
    userHome,
    crabpotHome: resolve(expandTilde(variables["CRABPOT_HOME"] || "~/.crabpot", userHome)),
    checkout: checkoutFolder,
  };
}

/** `~/projects` → `/home/me/projects`; other paths stay as they are. */
function expandTilde(path: string, userHome: string): string {
  if (path === "~") return userHome;
  return path.startsWith("~/") ? join(userHome, path.slice(2)) : path;
}
