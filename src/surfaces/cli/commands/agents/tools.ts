import type { Command } from "commander";

import { configuredGroups } from "../../../../config/configured/groups.ts";
import { mcpServers } from "../../../../config/configured/mcp.ts";
import { resolveGroup, sharedPolicy } from "../../../../config/resolve-group.ts";
import type { Config } from "../../../../config/schema/config.ts";
import { abilitiesOf, type GroupAbility } from "../../../../domain/settings/group-ability.ts";
import { risks } from "../../../../domain/rights/policy.ts";
import type { Action, Risk, ToolPolicy } from "../../../../domain/rights/policy.ts";
import { serverToolSeparator } from "../../../../domain/sandbox/mcp-server.ts";
import { ownCommand } from "../../../../lib/process/own-command.ts";
import { AppError } from "../../../../lib/app-error.ts";
import { nearest } from "../../../../lib/text/nearest.ts";
import { anyTool, offeredAs } from "../../../../abilities/mcp/offline.ts";
import { callsTools, seesImages } from "../../../../models/knowledge/capabilities.ts";
import { judgeCall } from "../../../../rights/policy/judge.ts";
import type { Tool } from "../../../../tools/catalog.ts";
import { abilityOf, ToolRegistry } from "../../../../tools/registry.ts";
import { broughtTools } from "../skills/brought-tools.ts";
import { rightsOf } from "../../../../tools/sessions/session-rights.ts";
import type { Withheld } from "../../../../tools/registry.ts";
import { possibleRisks, statedRisk } from "../../../../tools/risk.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { mcpHomeOf } from "../mcp/servers.ts";

export function addToolsCommand(program: Command, context: CommandContext): void {
  const tools = program.command("tools").description("list the tools of agents");

  addLeaf(tools, "list", "list all tools, and whether config.yaml offers them")
    .option("--group <group>", "for this group; otherwise by the general settings")
    .action(async ({ group }: { group?: string }, command: Command) => {
      const adapters = await context.adapters();
      const { config } = await context.loadConfig();
      await context.configurePlugins(config);
      const registry = new ToolRegistry(adapters.tools).joinedBy(await broughtTools(context, config, group));
      context.outputOf(command).items(
        [...listTools(config, registry, group), ...(await listServerTools(context, config, group))],
        [
          { title: "tool", of: (tool) => tool.name },
          { title: "runs in", of: (tool) => tool.runs },
          { title: "risk", of: (tool) => tool.risk },
          { title: "time-out (s)", of: (tool) => tool.timeoutSeconds },
          { title: "offered", of: (tool) => [tool.offered ? "yes" : "no", tool.reason].filter(Boolean).join(": ") },
          { title: "policy", of: ({ policy }) => describePolicy(policy) },
        ],
        "There are no tools.",
      );
    });
}

interface ListedTool {
  readonly name: string;
  readonly runs: Tool["runs"];
  /** `by input`: it depends on what the tool is called with. */
  readonly risk: string;
  /** Decisions on a plain member's call without further origins or patterns, by risk. */
  readonly policy: Readonly<Partial<Record<Risk, Action>>>;
  readonly timeoutSeconds: number;
  readonly offered: boolean;
  /** Reason or condition. */
  readonly reason?: string | undefined;
}

function listTools(config: Config, registry: ToolRegistry, group: string | undefined): ListedTool[] {
  const model = group === undefined ? undefined : find(config, group).model;
  const policy = group === undefined ? sharedPolicy(config) : resolveGroup(config, { name: group }).policy;
  const { subAgents } = config.limits;
  // What a channel can do is known by the host that has it open.
  const audience = {
    policy,
    channelCan: () => true,
    modelCallsTools: callsTools(config.models, model),
    modelSees: seesImages(config.models, model),
    has: abilitiesIn(config, group),
    rights: rightsOf("main", { spawns: subAgents.depth > 0 && subAgents.atOnce > 0 }),
  };
  return registry.tools.map((tool) => {
    const { name, runs, timeoutSeconds } = tool;
    const withheld = registry.withheld(tool, audience);
    const risk = statedRisk(tool);
    const reason = withheld === undefined ? conditionOf(tool) : reasons[withheld];
    const decided = policyByRisk(tool, policy);
    return { name, runs, risk, policy: decided, timeoutSeconds, offered: withheld === undefined, reason };
  });
}

/** Returns what a group has, or groups have by the settings for everybody. */
function abilitiesIn(config: Config, group: string | undefined): ReadonlySet<GroupAbility> {
  const has = abilitiesOf(resolveGroup(config, { name: group ?? "" }));
  const speaks = group === undefined && config.media.speech !== "none";
  return speaks ? new Set([...has, "speech"]) : has;
}

/** Tools of MCP servers as last seen, as they are only known from turns. */
async function listServerTools(
  context: CommandContext,
  config: Config,
  group: string | undefined,
): Promise<ListedTool[]> {
  const servers = group === undefined ? mcpServers(config) : resolveGroup(config, { name: group }).mcpServers;
  if (servers.length === 0) return [];
  const policy = group === undefined ? sharedPolicy(config) : resolveGroup(config, { name: group }).policy;
  return (await mcpHomeOf(context).toolsOf(servers)).map(({ server, name: tool, state, risk }) => {
    const { name: fullName, timeoutSeconds } = offeredAs(server, tool);
    const name = tool === anyTool ? `${server}${serverToolSeparator}${anyTool}` : fullName;
    const call = { tool: name, input: {}, role: "member", origins: ["member"], risk } as const;
    const reason =
      serverReasons[state] ?? `its server's tools are not known yet: run ${ownCommand(`mcp test ${server}`)}`;
    return {
      name,
      runs: "host" as const,
      risk,
      policy: { [risk]: judgeCall(call, policy).verdict.action },
      timeoutSeconds,
      offered: state === "ok",
      reason: state === "ok" ? undefined : reason,
    };
  });
}

const serverReasons: Readonly<Partial<Record<string, string>>> = {
  changed: "tool descriptions changed since first use, and nobody has allowed it",
  refused: "not listed in tools of its server",
};

function policyByRisk(tool: Tool, policy: ToolPolicy): ListedTool["policy"] {
  const asking = { tool: tool.name, input: {}, role: "member", origins: ["member"] } as const;
  const possible = risks.filter((risk) => possibleRisks(tool).includes(risk));
  return Object.fromEntries(possible.map((risk) => [risk, judgeCall({ ...asking, risk }, policy).verdict.action]));
}

/** `allow`, or `low: allow, high: ask` where it depends on the risk. */
function describePolicy(policy: ListedTool["policy"]): string {
  const [first, ...others] = new Set(Object.values(policy));
  if (first !== undefined && others.length === 0) return first;
  return Object.entries(policy)
    .map(([risk, action]) => `${risk}: ${action}`)
    .join(", ");
}

const reasons: Readonly<Record<Withheld, string>> = {
  policy: "the policy denies it",
  channel: "the channel cannot do that",
  memory: "memory.enabled is not set",
  skills: "skills is none",
  web: "web.fetch is off, or web.search has no provider",
  browser: "the group has no image: browser",
  speech: "media.speech is none, or espeak and the group's image has no espeak-ng or no opus-tools",
  model: "no model of the route can call tools",
  sessions: "sessions.visibility shows no other sessions",
  vision: "no model of the route can be shown images",
  right: "sub-agents are disabled",
  plugin: "its plugin is not usable: crabpot plugins list",
};

function conditionOf(tool: Tool): string | undefined {
  const ability = abilityOf(tool);
  return ability === undefined ? undefined : `if the channel supports ${ability}`;
}

function find(config: Config, name: string): { readonly model: string | undefined } {
  const groups = configuredGroups(config);
  const group = groups.find((candidate) => candidate.name === name);
  if (group) return group;
  const near = nearest(
    name,
    groups.map((candidate) => candidate.name),
  );
  const hint = near === undefined ? "A group added at run time has the general settings." : `Did you mean ${near}?`;
  throw new AppError("not_found", `There is no group "${name}" in config.yaml. ${hint}`);
}
