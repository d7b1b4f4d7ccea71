import type { HostFunctions } from "../surfaces/cli/host-functions.ts";

/** What the command line calls of the host. Each function loads its module at the first call. */
export const hostFunctions: HostFunctions = {
  run: async (...given) => (await import("./run-host.ts")).run(...given),
  readStoppedHost: async (...given) => (await import("./stopped-host.ts")).readStoppedHost(...given),
  readHalfKnownKeys: async (...given) => (await import("./stopped-host.ts")).readHalfKnownKeys(...given),
  openOfflineErasure: async (...given) => (await import("./erase-offline.ts")).openOfflineErasure(...given),
};
