import type { Risk } from "../domain/approval.ts";
import type { ToolPolicy } from "../domain/group.ts";
import type { Role } from "../domain/role.ts";

/** What may happen to a tool call. `ask`: people decide, as many as `quorum` (1 when absent) who are at least `approvers`. */
export type Decision =
  | { readonly verdict: "allow" }
  | {
      readonly verdict: "ask";
      /** How the rule is called for people. */
      readonly rule: string;
      readonly risk: Risk;
      readonly approvers?: Role | undefined;
      readonly quorum?: number | undefined;
    }
  | { readonly verdict: "deny"; readonly reason: string };

/** Judges one call by its tool's name and, for people who are asked, by its risk. That there is such a tool is for others to see to. */
export function judgeToolCall(call: { readonly name: string; readonly risk: Risk }, policy: ToolPolicy): Decision {
  const isNamed = Object.hasOwn(policy.tools, call.name);
  const verdict = isNamed ? policy.tools[call.name] : policy.default;
  if (verdict === "allow") return { verdict: "allow" };
  const rule = isNamed ? `policy.tools.${call.name}` : "policy.default";
  if (verdict === "ask") return { verdict: "ask", rule, risk: call.risk };
  return {
    verdict: "deny",
    reason: `The operator's policy does not allow "${call.name}" in this group. Do without it.`,
  };
}
