import { existsSync } from "node:fs";

import type { CommandContext } from "../context.ts";

/** Parameters of an operation, and the error by which it is known that no host runs. */
interface Asked {
  readonly input: unknown;
  readonly absence?: unknown;
}

type OpenNeeds = (context: CommandContext, asked: Asked) => Promise<AsyncDisposable>;

/**
 * Parts of the home that operations work with in a command's process, by the name of the operation or its first word.
 * For all others: the store of a stopped host. Only what is needed is loaded.
 */
export const needsByName: Readonly<Record<string, () => Promise<OpenNeeds>>> = {
  image: async () => (await import("./images.ts")).openImages,
  config: async () => (await import("./settings-file.ts")).openSettingFile,
  "groups.set": async () => (await import("./settings-file.ts")).openSettingFile,
  "groups.unset": async () => (await import("./settings-file.ts")).openSettingFile,
  "config.history": async () => openStoppedStore,
  "mounts.check": async () => (await import("./mounts.ts")).openMounts,
  skills: async () => (await import("./skills.ts")).openSkills,
  "people.look": async () => openErasure,
  "people.forget": async () => openErasure,
  "events.tail": async () => openEvents,
};

/** The store of a stopped host. */
export const openStoppedStore: OpenNeeds = async (context, { absence }) => {
  const { environment, paths, streams } = context;
  requireStore(context, absence);
  const { readStoppedHost } = await import("../stopped-host.ts");
  const left = await readStoppedHost(paths, environment.variables, await context.adapters());
  streams.stderr.write("crabpot: no host is running: reading the store as it was left\n");
  return left;
};

const openErasure: OpenNeeds = async (context, { absence }) => {
  requireStore(context, absence);
  return context.hostFunctions.openOfflineErasure(context.environment, await context.adapters());
};

const openEvents: OpenNeeds = async (context, { input, absence }) => {
  if ((input as { readonly follow?: unknown }).follow === true) throw absence;
  requireStore(context, absence);
  const { openEventReader } = await import("../../../stores/catalog.ts");
  const events = await openEventReader({ path: context.paths.database });
  return { events, [Symbol.asyncDispose]: () => events[Symbol.asyncDispose]() };
};

function requireStore({ paths }: CommandContext, absence: unknown): void {
  if (!existsSync(paths.database)) throw absence;
}
