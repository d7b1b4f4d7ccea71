import type { ToolCall } from "../domain/model.ts";
import type { Risk, Provenance, Verdict } from "../domain/policy.ts";
import { judgeCall } from "../policy/judge.ts";
import type { LookedAt } from "../policy/judge.ts";
import { toError } from "../lib/app-error.ts";
import { parseToolInput } from "../protocol/tools.ts";
import { abilityOf, asksAlways, policyFor } from "./registry.ts";
import type { Tool } from "./catalog.ts";
import type { Audience, ToolRegistry } from "./registry.ts";
import { riskOf } from "./risk.ts";
import type { RiskPlace } from "./risk.ts";

/** What a call is judged by, besides itself. */
export interface Circumstances {
  readonly registry: Pick<ToolRegistry, "get" | "tools" | "withheld">;
  readonly audience: Audience;
  readonly place: RiskPlace;
  readonly provenance: Provenance;
}

/** What was decided about a call, and which rules were looked at for it: none for a tool that there is not, or that cannot work. */
export interface JudgedToolCall {
  readonly verdict: Verdict;
  readonly looked: readonly LookedAt[];
}

/** Judges one call: is there such a tool, do channel and models have what it needs, and what does the policy say? */
export async function judgeToolCall(
  { name, input }: Pick<ToolCall, "name" | "input">,
  { registry, audience, place, provenance }: Circumstances,
): Promise<JudgedToolCall> {
  const tool = registry.get(name);
  if (!tool) {
    const names = registry.tools.map((known) => known.name);
    return refuse("high", "unknown tool", unknownTool(name, names));
  }
  const risk = await riskOf(tool, input, place);
  const withheld = registry.withheld(tool, audience);
  if (withheld === "channel") {
    const reason = `"${name}" does not work here: this chat has no ${abilityOf(tool)}. Do without it.`;
    return refuse(risk, "the channel cannot do that", reason);
  }
  if (withheld === "model")
    return refuse(risk, "the model cannot call tools", "This model cannot call tools. Do without them.");
  if (withheld === "sessions")
    return refuse(risk, "no other sessions may be seen", "You may see no other sessions here. Do without them.");
  if (withheld === "memory")
    return refuse(risk, "the group remembers nothing", "This group remembers nothing. Do without it.");
  if (withheld === "skills")
    return refuse(risk, "the group has no skills", "This group has no skills. Do without them.");
  if (withheld === "vision")
    return refuse(risk, "the model cannot see", "This model cannot be shown images. Do without it.");
  if (withheld === "right") {
    const reason = `"${name}" is not for you here: what should be said or done in the chat goes into your answer. Do without it.`;
    return refuse(risk, "not for this agent", reason);
  }
  const fault = asksAlways(tool) ? faultOf(tool, input) : undefined;
  if (fault !== undefined) return refuse(risk, "its input does not fit", fault);
  return judgeCall({ ...provenance, tool: name, input, risk }, policyFor(tool, audience.policy));
}

/** Nobody is asked about what could not be done. */
function faultOf(tool: Tool, input: unknown): string | undefined {
  try {
    parseToolInput(tool, input);
    return undefined;
  } catch (error) {
    return toError(error).message;
  }
}

/** For the model; `names` are those that it knows. */
export function unknownTool(name: string, names: readonly string[]): string {
  return `There is no tool "${name}". ${names.length === 0 ? "There are none here." : `Tools: ${names.join(", ")}.`}`;
}

function refuse(risk: Risk, rule: string, reason: string): JudgedToolCall {
  return { verdict: { action: "deny", risk, rule, reason }, looked: [] };
}
