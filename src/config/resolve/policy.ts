import type { Rule, ToolPolicy } from "../../domain/rights/policy.ts";
import { mainAgent } from "../../domain/turns/session.ts";
import { agentOf } from "../configured/agents.ts";
import { entryOf, firstAgent } from "./entry.ts";
import { presetByDefault } from "../policy-in-effect.ts";
import type { Config } from "../schema/config.ts";
import type { GroupPolicySettings, PolicyRule, PolicySettings } from "../schema/policy.ts";

/** Decisions of each preset for calls that no rule or name decides. */
const presets: Readonly<Record<NonNullable<PolicySettings["preset"]>, readonly Omit<Rule, "name">[]>> = {
  safe: [{ risk: "high", action: "deny" }, { risk: "medium", action: "ask" }, { action: "allow" }],
  standard: [{ risk: "high", action: "ask" }, { action: "allow" }],
  open: [{ action: "allow" }],
};

/**
 * The rules for this group in the order in which they count: its own rules, those for everybody, then names of tools,
 * its own before those for everybody; last what holds for all others, by the group's `default` or `preset`, or else by
 * those for everybody. A group that is not in `config.yaml` has those for everybody alone. Before all of them comes
 * what the agent may not: `agent` is its id where it is not the one that the group has now.
 */
export function policyOf(
  config: Pick<Config, "policy" | "groups" | "agents">,
  name: string,
  agent = firstAgent(entryOf(config, name) ?? {}),
): ToolPolicy {
  const group = entryOf(config, name)?.policy;
  const shared = config.policy;
  const ofGroup = ` of group ${name}`;
  const own = group && fallback(group, ofGroup);
  return {
    rules: [
      ...rulesOfAgent(config, agent),
      ...(group?.rules ?? []).map((rule, index) => toRule(rule, `rules[${index}]${ofGroup}`)),
      ...shared.rules.map((rule, index) => toRule(rule, `rules[${index}]`)),
      ...(group ? byName(group, ofGroup) : []),
      ...byName(shared, ""),
      ...(own ?? fallback(shared, "") ?? fallback({ preset: presetByDefault }, "") ?? []),
    ],
  };
}

/**
 * The rules that come before all others: a list of tools is the end of it, and an agent that is not configured may use
 * none.
 */
function rulesOfAgent(config: Pick<Config, "agents">, id: string | undefined = mainAgent): readonly Rule[] {
  const agent = agentOf(config, id);
  if (!agent) return id === mainAgent ? [] : [{ name: `agents: there is no ${id} anymore`, action: "deny" }];
  const { tools, permissions = [] } = agent;
  return [
    ...(tools ? [{ name: `tools of agent ${id}`, exceptTools: tools, action: "deny" as const }] : []),
    ...permissions.map((each, index) => toRule(each, `permissions[${index}] of agent ${id}`)),
  ];
}

/** A rule as it is looked at; `name` is what people call it. */
export function toRule({ tool, origin, ...rest }: PolicyRule, name: string): Rule {
  const tools = tool === undefined || tool === "*" ? undefined : listOf(tool);
  return { ...rest, name, tools, origins: origin === undefined ? undefined : listOf(origin) };
}

function listOf<Item>(given: Item | readonly Item[]): readonly Item[] {
  return Array.isArray(given) ? (given as readonly Item[]) : [given as Item];
}

/** Names of one verdict are one rule each, so that the rule says which name decided. */
function byName({ tools }: Pick<PolicySettings, "tools">, of: string): Rule[] {
  return Object.entries(tools).map(([tool, action]) => ({ name: `tools.${tool}${of}`, tools: [tool], action }));
}

/** Undefined where neither a default nor a preset is given. */
function fallback(given: Pick<GroupPolicySettings, "default" | "preset">, of: string): Rule[] | undefined {
  if (given.default !== undefined) return [{ name: `default${of}`, action: given.default, isFallback: true }];
  const { preset } = given;
  if (preset === undefined) return undefined;
  return presets[preset].map((rule) => ({
    ...rule,
    isFallback: true,
    name: `preset ${preset}${of}: ${rule.risk ?? "everything else"}`,
  }));
}
