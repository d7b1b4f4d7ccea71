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
   * Groups in whose tests nothing is about containers, or all: their agents are the real ones, at their real mailboxes,
   * but run in the host's own process, where they are ready at once and have no their own tools. The host is a
   * `crashingHost` then.
   */
  readonly withoutContainers?: "all" | readonly string[];
  /** Environment variables of the process, such as DOCKER_HOST. */
  readonly variables?: Readonly<Record<string, string>>;
}
