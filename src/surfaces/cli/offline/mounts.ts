import { configuredGroups } from "../../../config/configured/groups.ts";
import { judgeGroupMounts } from "../../../sandbox/mounts/group-mounts.ts";
import type { MountVerdict } from "../../../sandbox/mounts/rules.ts";
import type { Group } from "../../../domain/chats/group.ts";
import { AppError } from "../../../lib/app-error.ts";
import { listGroups } from "../../../operations/groups/operations.ts";
import type { MountNeeds } from "../../../operations/mounts/operations.ts";
import type { CommandContext } from "../context.ts";

/** Judges what config.yaml asks for, or a group that the running host knows. */
export async function openMounts(context: CommandContext): Promise<MountNeeds & AsyncDisposable> {
  const { config } = await context.loadConfig();
  const configured = configuredGroups(config);
  return {
    mounts: { judge: async (name) => judgeNow(context, await findGroup(context, configured, name), configured) },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** By the same rules, from the same files, as when a container is started. */
export async function judgeNow(
  { environment, paths }: CommandContext,
  group: Group,
  configured: readonly Group[],
): Promise<readonly MountVerdict[]> {
  const context = {
    homeFolder: environment.userHome,
    crabpotHome: paths.root,
    checkout: environment.checkout,
    allowlistPath: paths.mounts,
    hostUid: process.geteuid?.() ?? 0,
    // Files alone do not say it: the host tries it before it grants one, and so does `crabpot doctor`.
    reviewFault: async () => undefined,
  };
  // Only the owners count here: which uid a group without writable mounts gets changes no verdict.
  return (await judgeGroupMounts(group, configured, { context, ordinal: 0, instance: "" })).verdicts;
}

/** A group of the configuration, or else one that the running host knows. */
async function findGroup(context: CommandContext, configured: readonly Group[], name: string): Promise<Group> {
  const found = configured.find((group) => group.name === name) ?? (await findAddedGroup(context, name));
  if (found !== undefined) return found;
  const names = configured.map((group) => group.name).join(", ") || "none";
  throw new AppError("not_found", `There is no group "${name}"; config.yaml has: ${names}.`);
}

async function findAddedGroup(context: CommandContext, name: string): Promise<Group | undefined> {
  try {
    return (await context.call(listGroups, {})).find((group) => group.name === name);
  } catch (error) {
    if (error instanceof AppError && error.code === "no_host") return undefined;
    throw error;
  }
}
