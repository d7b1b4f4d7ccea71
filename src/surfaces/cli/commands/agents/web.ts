import type { Command } from "commander";

import { configuredGroups } from "../../../../config/configured/groups.ts";
import { loadConfig } from "../../../../config/loading/load.ts";
import type { Config } from "../../../../config/schema/config.ts";
import { resolveGroup } from "../../../../config/resolve-group.ts";
import { AppError } from "../../../../lib/app-error.ts";
import { nearest } from "../../../../lib/text/nearest.ts";
import { whyRefused } from "../../../../abilities/web/offline.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";

export function addWebCommand(program: Command, context: CommandContext): void {
  const web = program.command("web").description("web access of agents");

  addLeaf(web, "show", "list the web access of groups, and the search provider").action(
    async (_options: object, command: Command) => {
      const config = await configNow(context);
      const groups = configuredGroups(config).map(({ name }) => shownWeb(config, name));
      context.outputOf(command).items(
        groups,
        [
          { title: "group", of: ({ group }) => group },
          { title: "fetch", of: ({ fetch }) => fetch },
          { title: "allow", of: ({ allow }) => allow.join(" ") },
          { title: "search", of: ({ search }) => search },
        ],
        "There are no groups in config.yaml.",
      );
    },
  );

  addLeaf(web, "check <address>", "check whether a group may fetch an address, without fetching it")
    .requiredOption("--group <group>", "the group")
    .action(async (address: string, { group }: { group: string }, command: Command) => {
      const config = await configNow(context);
      requireGroup(config, group);
      const reason = await whyRefused(address, resolveGroup(config, { name: group }).web);
      const allowed = reason === undefined;
      context.outputOf(command).facts({ group, address, allowed, reason }, [
        ["allowed", allowed ? "yes" : "no"],
        ["because", reason],
      ]);
      if (!allowed) context.exitCode = 1;
    });
}

async function configNow(context: CommandContext): Promise<Config> {
  return (await loadConfig(context.paths.config, context.environment.variables, await context.adapters())).config;
}

function shownWeb(config: Config, group: string) {
  const { search, ...web } = resolveGroup(config, { name: group }).web;
  return { group, ...web, search: search?.provider };
}

function requireGroup(config: Config, group: string): void {
  const names = configuredGroups(config).map(({ name }) => name);
  if (names.includes(group)) return;
  const near = nearest(group, names);
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  throw new AppError("not_found", `There is no group "${group}" in config.yaml.${hint}`);
}
