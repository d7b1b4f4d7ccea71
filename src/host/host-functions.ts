import type { HostFunctions } from "../surfaces/cli/host-functions.ts";

/** What the command line calls of the host. Each function loads its module at the first call. */
export const hostFunctions: HostFunctions = {
  run: async (...given) => (await import("./run-host.ts")).run(...given),
  openInstalledPlugins: async (...given) =>
    (await import("./plugins/installed-plugins.ts")).openInstalledPlugins(...given),
  adaptersWith: async (...given) => (await import("./plugins/installed-plugins.ts")).adaptersWith(...given),
  createPluginInstaller: async (...given) =>
    (await import("./plugins/plugin-installer.ts")).createPluginInstaller(...given),
  readStoppedHost: async (...given) => (await import("./stopped-host.ts")).readStoppedHost(...given),
  readHalfKnownKeys: async (...given) => (await import("./stopped-host.ts")).readHalfKnownKeys(...given),
  openStoppedImages: async (...given) => (await import("./stopped-images.ts")).openStoppedImages(...given),
  openOfflineErasure: async (...given) => (await import("./erasure/erase-offline.ts")).openOfflineErasure(...given),
};
