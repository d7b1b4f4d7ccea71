import { onDisk } from "./temporary-folder.ts";

/**
 * The environment variable that tells a `crashingHost` whose agents run in its own process: groups with commas between
 * them, or `*`.
 */
export const agentsHereVariable = "CRABPOT_TEST_AGENTS_HERE";
/** The environment variable that says by how many milliseconds the clock of a `crashingHost` is ahead. */
export const clockAheadVariable = "CRABPOT_TEST_CLOCK_AHEAD_MS";

/** Options for a test host. */
export interface HostOptions {
  readonly groups?: Record<string, object>;
  readonly config?: object;
  readonly mounts?: object;
  /** Parent folder of its home. */
  readonly parent?: string;
  /** Started in place of the command line. */
  readonly program?: string | undefined;
  /**
   * `own`: a separate process, as in real life; one with a `program` always has it. `shared`: the test's process,
   * where a host starts in a fifth of the time, has neither a number nor streams, and can be killed only where nothing
   * is about containers. Left out: `shared` when all is without containers.
   */
  readonly process?: "own" | "shared" | undefined;
  /**
   * Groups in whose tests nothing is about containers, or all: their agents are the real ones, at their real mailboxes,
   * but run in the host's process, where they are ready at once and have no tools. A host with a separate process is a
   * `crashingHost` then.
   */
  readonly withoutContainers?: "all" | readonly string[];
  /** Agents without containers have their tools, which work on this machine; for a host in the test's process. */
  readonly shellHere?: boolean;
  /** Environment variables of the process, such as DOCKER_HOST. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Returns where its folder has to be made; undefined: in memory. */
export function placeOf({
  parent,
  mounts,
  withoutContainers,
}: Pick<HostOptions, "parent" | "mounts" | "withoutContainers">): string | undefined {
  return parent ?? (withoutContainers === "all" && mounts === undefined ? undefined : onDisk);
}
