import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";

import { resolveGroup } from "../../../../config/resolve-group.ts";
import { origins } from "../../../../domain/people/origin.ts";
import type { Origin } from "../../../../domain/people/origin.ts";
import type { Rule } from "../../../../domain/rights/policy.ts";
import { roles } from "../../../../domain/people/role.ts";
import { ToolRegistry } from "../../../../tools/registry.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { broughtTools } from "../skills/brought-tools.ts";
import { explainCall, tellExplanation } from "./explain.ts";
import type { ExplainOptions } from "./explain.ts";
import { findAudience } from "./find-audience.ts";

type ExplainArguments = [
  group: string,
  tool: string,
  input: string | undefined,
  options: ExplainOptions,
  command: Command,
];

/** By the configuration itself; no host takes part. */
export function addPolicyCommands(policy: Command, context: CommandContext): void {
  addLeaf(policy, "explain <group> <tool> [input]", "show how the policy would judge a tool call; needs no host")
    .addOption(new Option("--role <role>", "role of the asker").choices(roles).default("member"))
    .addOption(
      new Option("--origin <origin>", "origin that the turn has read, besides the asker's words (repeatable)")
        .argParser(collectOrigin)
        .default([], "nothing else"),
    )
    .action(async (...given: ExplainArguments) => {
      const [group, tool, input, options, command] = given;
      const { config, adapters } = await context.loadConfig();
      await context.configurePlugins(config);
      const audience = await findAudience(context, { config, adapters }, group);
      const brought = await broughtTools(context, config, group);
      const registry = new ToolRegistry(adapters.tools).joinedBy(brought);
      const explained = await explainCall({ ...audience, registry }, { tool, input }, options);
      tellExplanation(context.outputOf(command), explained);
    });

  addLeaf(policy, "show <group>", "list the rules for a group in order; needs no host").action(
    async (name: string, _options: object, command: Command) => {
      const { config, adapters } = await context.loadConfig();
      const { group } = await findAudience(context, { config, adapters }, name);
      const rules = resolveGroup(config, group).policy.rules.map((rule) => ({ ...rule, tools: rule.tools ?? ["*"] }));
      context.outputOf(command).items(
        rules,
        [
          { title: "rule", of: (rule) => rule.name },
          { title: "tools", of: ({ tools }) => tools.join(", ") },
          { title: "only for", of: describeConditions, fills: true },
          { title: "then", of: describeAction },
        ],
        "No rules: every call is denied.",
      );
    },
  );
}

function collectOrigin(given: string, before: readonly Origin[]): readonly Origin[] {
  const origin = origins.find((known) => known === given);
  if (origin) return [...before, origin];
  throw new InvalidArgumentError(`Allowed choices are ${origins.join(", ")}.`);
}

function describeConditions({ risk, role, origins: read, match }: Pick<Rule, "risk" | "role" | "origins" | "match">) {
  const conditions = [
    risk === undefined ? [] : [`risk ${risk} and above`],
    role === undefined ? [] : [`role ${role}`],
    read === undefined ? [] : [`turns that have read ${read.join(" or ")}`],
    match === undefined ? [] : [`input like ${JSON.stringify(match)}`],
  ];
  return conditions.flat().join("; ");
}

function describeAction({ action, quorum, approvers }: Pick<Rule, "action" | "quorum" | "approvers">): string {
  const many = quorum === undefined ? "" : ` ${quorum} people`;
  return `${action}${many}${approvers === undefined ? "" : ` (${approvers} and above)`}`;
}
