import type { Adapters } from "../../config/adapters.ts";
import type { Environment, EnvironmentVariables } from "../../config/environment.ts";
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
  /** Erases people without a running host. */
  readonly openOfflineErasure: (
    environment: Environment,
    adapters: Adapters,
  ) => Promise<ErasureNeeds & AsyncDisposable>;
}
