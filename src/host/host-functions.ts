import type { HostFunctions } from "../surfaces/cli/host-functions.ts";

/** Host functions for the command line. Each loads its module on first use. */
export const hostFunctions: HostFunctions = {
  run: async (...given) => (await import("./run-host.ts")).run(...given),
  openOfflineErasure: async (...given) => (await import("./erasure.ts")).openOfflineErasure(...given),
};
