import type { HostFunctions } from "../surfaces/cli/host-functions.ts";

/** Host functions for the command line. Each loads its module on first use. */
export const hostFunctions: HostFunctions = {
  run: async (...given) => (await import("./run-host.ts")).run(...given),
  readStoppedHost: async (...given) => (await import("./stopped-host.ts")).readStoppedHost(...given),
  readHalfKnownKeys: async (...given) => (await import("./stopped-host.ts")).readHalfKnownKeys(...given),
  openOfflineErasure: async (...given) => (await import("./data/erase-offline.ts")).openOfflineErasure(...given),
};
