import type { ToolPolicy } from "../domain/group.ts";

/** What may happen to a tool call. A verdict "ask" (a person decides) belongs here once approvals exist. */
export type Decision = { readonly verdict: "allow" } | { readonly verdict: "deny"; readonly reason: string };

/** Judges one call by its tool's name. Names that are not known are refused, whatever the policy says. */
export function judgeToolCall(
  call: { readonly name: string },
  policy: ToolPolicy,
  knownTools: ReadonlySet<string>,
): Decision {
  if (!knownTools.has(call.name)) {
    return { verdict: "deny", reason: `There is no tool "${call.name}". Tools: ${[...knownTools].join(", ")}.` };
  }
  const verdict = Object.hasOwn(policy.tools, call.name) ? policy.tools[call.name] : policy.default;
  if (verdict === "allow") return { verdict: "allow" };
  return {
    verdict: "deny",
    reason: `The operator's policy does not allow "${call.name}" in this group. Do without it.`,
  };
}
