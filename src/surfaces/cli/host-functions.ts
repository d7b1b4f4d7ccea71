import type { Adapters } from "../../config/adapters.ts";
import type { Environment, EnvironmentVariables } from "../../config/environment.ts";
import type { HomePaths } from "../../config/home/home.ts";
import type { LoadedConfig } from "../../config/loading/load.ts";
import type { OfflineNeeds } from "../operations.ts";
import type { ErasureNeeds } from "../../operations/people/operations.ts";

/**
 * Functions that build a host or a part of one. They stand above the command line, so `main.ts` hands them over; each
 * loads its module at the first call, and a command that calls none loads none.
 */
export interface HostFunctions {
  /** Runs a host until its end. Resolves with the exit code. */
  readonly run: (options: {
    readonly console: boolean;
    readonly json: boolean;
    readonly env: EnvironmentVariables;
  }) => Promise<number>;
  /** Reads what a stopped host has left. Throws `store_failed`. */
  readonly readStoppedHost: (
    paths: HomePaths,
    variables: EnvironmentVariables,
    adapters: Adapters,
  ) => Promise<OfflineNeeds & AsyncDisposable>;
  /** Configured people of whom the store knows only the id that the configuration names. */
  readonly readHalfKnownKeys: (paths: HomePaths, loaded: LoadedConfig) => Promise<string[]>;
  /** Erases people without a running host. */
  readonly openOfflineErasure: (
    environment: Environment,
    adapters: Adapters,
  ) => Promise<ErasureNeeds & AsyncDisposable>;
}
