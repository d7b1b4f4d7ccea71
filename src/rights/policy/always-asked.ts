import type { Rule, ToolPolicy } from "../../domain/rights/policy.ts";

/**
 * The policy for a tool whose calls people decide about in any case: what rules allow is asked, what they deny is
 * denied. What holds for tools that no rule names does not count for it.
 */
export function asAlwaysAsked(tool: string, { rules }: ToolPolicy): ToolPolicy {
  const named = rules.filter(({ isFallback }) => isFallback !== true);
  return { rules: [...named.map(asked), { name: `${tool} is always asked`, action: "ask" }] };
}

function asked(rule: Rule): Rule {
  return rule.action === "allow" ? { ...rule, action: "ask" } : rule;
}
