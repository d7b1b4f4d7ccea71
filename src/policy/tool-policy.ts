import type { ToolPolicy } from "../domain/group.ts";

/** What may happen to a tool call. A verdict "ask" (a person decides) belongs here once approvals exist. */
export type Decision = { readonly verdict: "allow" } | { readonly verdict: "deny"; readonly reason: string };

/** Judges one call by its tool's name. That there is such a tool is for others to see to. */
export function judgeToolCall(call: { readonly name: string }, policy: ToolPolicy): Decision {
  const verdict = Object.hasOwn(policy.tools, call.name) ? policy.tools[call.name] : policy.default;
  if (verdict === "allow") return { verdict: "allow" };
  return {
    verdict: "deny",
    reason: `The operator's policy does not allow "${call.name}" in this group. Do without it.`,
  };
}
