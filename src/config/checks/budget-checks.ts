import { bundledPrompts } from "../prompts/prompt-files.ts";
import { checkoutFolder } from "../environment.ts";
import { systemPrompt } from "../../turns/context/prompt/system-prompt.ts";
import { localClock } from "../../lib/time/zone-clock.ts";
import { estimatePromptTokens } from "../../turns/context/tokens.ts";
import type { Group } from "../../domain/chats/group.ts";
import { callReserve, formatTokens, usdInWords } from "../../models/costs/budget.ts";
import {
  callsTools,
  type Capability,
  costUsd,
  modelsOfRoute,
  seesImages,
} from "../../models/knowledge/capabilities.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import { type Adapters, hasTrait } from "../adapters.ts";
import type { ConfigFault } from "../faults.ts";
import { formatPath } from "../faults.ts";
import { configuredGroups } from "../configured/groups.ts";
import { agentNameOf } from "../configured/agents.ts";
import { policyOf } from "../resolve/policy.ts";
import type { Config } from "../schema/config.ts";

/** A limit of a group, and where it stands. */
interface Limit {
  readonly path: readonly string[];
  readonly key: "tokensPerDay" | "usdPerDay";
  readonly amount: number;
}

interface Finding {
  /** The same for all groups that the limit is for. */
  readonly key: string;
  readonly fault: ConfigFault;
  /** The model is never asked under this limit. */
  readonly isRefused: boolean;
}

/**
 * Budgets under which no model of a group's route is ever asked are faults; those that cannot be meant for one of them,
 * warnings.
 */
export function checkBudgets(
  config: Config,
  adapters: Adapters,
): { readonly faults: readonly ConfigFault[]; readonly warnings: readonly ConfigFault[] } {
  const faults = new Map<string, ConfigFault>();
  const warnings = new Map<string, ConfigFault>();
  const limits = groupsOf(config).flatMap((group) => limitsOf(config, group.name).map((limit) => ({ group, limit })));
  if (limits.length === 0) return { faults: [], warnings: [] };
  const registry = new ToolRegistry(adapters.tools);
  for (const { group, limit } of limits) {
    const promptTokens = shortestPrompt(group, { config, adapters, registry });
    const models = modelsOfRoute(config.models, group.model);
    const findings = models.map((model) => judge(limit, { ...model, promptTokens }));
    const isDead = findings.every((finding) => finding?.isRefused);
    for (const finding of findings) if (finding) (isDead ? faults : warnings).set(finding.key, finding.fault);
  }
  for (const key of faults.keys()) warnings.delete(key);
  return { faults: [...faults.values()], warnings: [...warnings.values()] };
}

type BudgetedGroup = Pick<Group, "name" | "channel" | "agent" | "model">;

/** Budgets of groups; without any, that of a group added at run time. */
function groupsOf(config: Config): BudgetedGroup[] {
  const configured = configuredGroups(config);
  return configured.length > 0 ? configured : [{ name: "", channel: "", model: undefined }];
}

function limitsOf({ budgets, groups }: Config, name: string): Limit[] {
  const own = groups[name]?.budget;
  return (["tokensPerDay", "usdPerDay"] as const).flatMap((key) => {
    const perGroup = { path: ["budgets", "perGroup", key], key, amount: budgets.perGroup[key] };
    const ofGroup = { path: ["groups", name, "budget", key], key, amount: own?.[key] };
    const total = { path: ["budgets", "total", key], key, amount: budgets.total[key] };
    return [ofGroup.amount === undefined ? perGroup : ofGroup, total].flatMap(({ amount, ...limit }) =>
      amount === undefined ? [] : [{ ...limit, amount }],
    );
  });
}

/** Minimum prompt of every call: the host's rules and the tools. AGENTS.md and messages come on top. */
function shortestPrompt(
  group: BudgetedGroup,
  { config, adapters, registry }: { config: Config; adapters: Adapters; registry: ToolRegistry },
): number {
  const tools = registry.offer({
    policy: policyOf(config, group.name),
    channelCan: (ability) => hasTrait({ config, adapters }, group.channel, ability),
    modelCallsTools: callsTools(config.models, group.model),
    modelSees: seesImages(config.models, group.model),
  });
  const facts = {
    agentName: agentNameOf(config, group.agent),
    group: group.name,
    folders: [],
    sharers: [],
    instructions: [],
    tools: tools.map(({ name }) => name),
    timeZone: localClock(config.timezone),
    startedAt: 0,
  };
  const system = systemPrompt(facts, bundledPrompts(checkoutFolder)).map(({ text }) => text);
  return estimatePromptTokens({ system, messages: [], tools });
}

function judge(
  { path, key, amount }: Limit,
  model: { readonly reference: string; readonly capability: Capability; readonly promptTokens: number },
): Finding | undefined {
  const { reference, capability, promptTokens } = model;
  const at = formatPath(path);
  const found = { key: `${at} ${reference}` };
  if (key === "usdPerDay" && costUsd(capability, noTokens) === undefined) {
    const detail = `the price of ${reference} is not known, so it is never asked under a budget in US dollars`;
    const prices = `capabilities: { ${JSON.stringify(reference)}: { inputUsd: 0, outputUsd: 0 } }`;
    return {
      ...found,
      fault: {
        path: at,
        detail,
        fix: `Write what it costs per million tokens, 0 for nothing, under models: ${prices}`,
      },
      isRefused: true,
    };
  }
  const [least, most] = (["shortest", "longest"] as const).map((answer) =>
    callReserve(capability, promptTokens, answer),
  );
  if (!least || !most || amount >= of(most, key)) return undefined;
  const isRefused = amount < of(least, key);
  const detail = isRefused
    ? `is too small for any call of ${reference}, which needs at least ${show(of(least, key), key)}`
    : `is less than a call of ${reference} may need, ${show(of(most, key), key)}: answers are kept short, and long conversations refused`;
  return {
    ...found,
    fault: { path: at, detail, fix: `Set ${at} to ${enough(of(most, key), key)} or more.` },
    isRefused,
  };
}

const noTokens = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };

function of({ tokens, usd }: { readonly tokens: number; readonly usd: number }, key: Limit["key"]): number {
  return key === "usdPerDay" ? usd : tokens;
}

function show(amount: number, key: Limit["key"]): string {
  return key === "usdPerDay" ? usdInWords(amount) : formatTokens(amount);
}

/** Rounded up, dollars to whole cents. */
function enough(amount: number, key: Limit["key"]): number {
  return key === "usdPerDay" ? Math.ceil(amount * 100) / 100 : Math.ceil(amount);
}
