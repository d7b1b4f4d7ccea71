import type { Command } from "commander";

import { configuredGroups } from "../../../../config/configured/groups.ts";
import { judgeGroupMounts } from "../../../../sandbox/mounts/group-mounts.ts";
import type { MountVerdict } from "../../../../sandbox/mounts/rules.ts";
import type { Group } from "../../../../domain/chats/group.ts";
import { AppError } from "../../../../lib/app-error.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { listGroups } from "../../../../operations/groups/operations.ts";

export function addMountsCommand(program: Command, context: CommandContext): void {
  const mounts = program.command("mounts").description("check a group's mounts");

  addLeaf(mounts, "check <group>", "judge the mounts of a group; exit 1 if one is denied").action(
    async (name: string, _options: object, command: Command) => {
      const { config } = await context.loadConfig();
      const configured = configuredGroups(config);
      const verdicts = await judgeNow(context, await findGroup(context, configured, name), configured);
      context.outputOf(command).items(
        verdicts.map(explain),
        [
          { title: "source", of: (mount) => mount.source },
          { title: "target", of: (mount) => `/workspace/extra/${mount.target}` },
          { title: "verdict", of: (mount) => mount.verdict },
          { title: "rule", of: (mount) => mount.rule },
          { title: "root", of: (mount) => mount.root ?? "" },
          { title: "reason", of: (mount) => mount.reason },
        ],
        `The group ${name} has no mounts.`,
      );
      if (verdicts.some((mount) => mount.verdict === "denied")) context.exitCode = 1;
    },
  );
}

/** A verdict with what decided it: the rule, and for a grant the root of mounts.json. */
function explain(verdict: MountVerdict) {
  const { source, target, reason } = verdict;
  if (verdict.verdict === "denied") {
    return { source, target, verdict: verdict.verdict, rule: verdict.rule, root: undefined, reason };
  }
  const { root, realPath, secrets } = verdict;
  const protectedPaths = (verdict.protect ?? []).map(({ path }) => path);
  return { source, target, verdict: verdict.verdict, rule: "root", root, realPath, protectedPaths, secrets, reason };
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
