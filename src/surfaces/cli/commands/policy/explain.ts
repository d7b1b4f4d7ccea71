import type { Origin } from "../../../../domain/people/origin.ts";
import { sortOrigins } from "../../../../domain/people/origin.ts";
import type { Verdict } from "../../../../domain/rights/policy.ts";
import { stakesOf } from "../../../../domain/rights/stakes.ts";
import type { Role } from "../../../../domain/people/role.ts";
import { isJsonObject } from "../../../../lib/text/parse-json.ts";
import { AppError } from "../../../../lib/app-error.ts";
import { judgeToolCall } from "../../../../tools/judge-tool-call.ts";
import type { JudgedToolCall } from "../../../../tools/judge-tool-call.ts";
import type { ToolRegistry } from "../../../../tools/registry.ts";
import type { Output } from "../../output.ts";
import type { GroupAudience } from "./find-audience.ts";

/** Options about the turn. */
export interface ExplainOptions {
  readonly role: Role;
  readonly origin: readonly Origin[];
}

/**
 * Judges a call as the host would, in a turn by this role with these origins. `brought`: tools of the group's skills.
 */
export async function explainCall(
  { group, audience, network, registry }: GroupAudience & { readonly registry: ToolRegistry },
  { tool, input }: { readonly tool: string; readonly input: string | undefined },
  { role, origin }: ExplainOptions,
): Promise<JudgedToolCall> {
  const stakes = stakesOf(group.mounts, network);
  const provenance = { role, origins: sortOrigins([role, ...origin]) };
  return judgeToolCall({ name: tool, input: parseInput(input) }, { registry, audience, stakes, provenance });
}

/** Throws `bad_input` for what is no JSON object. */
function parseInput(text: string | undefined): unknown {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Said below.
  }
  throw new AppError("bad_input", `The input ${JSON.stringify(text)} is not a JSON object.`, {
    fix: `Write it as the model would, such as '{"command":"git push"}'.`,
  });
}

export function tellExplanation(output: Output, { verdict, looked, why }: JudgedToolCall): void {
  const { action, risk, rule } = verdict;
  if (output.json) output.object({ action, risk, rule, ...(why !== undefined && { why }) });
  for (const { rule: seen, misfit } of looked) output.line(`  ${seen.name}: ${misfit ?? `matches: ${seen.action}`}`);
  if (why !== undefined) output.line(`  risk ${risk}: ${why}`);
  output.line(`${describe(verdict)}, risk ${risk}, by ${rule}`, action === "allow" ? "good" : "bad");
}

function describe({ action, reason, quorum, approvers }: Verdict): string {
  if (action === "deny") return `deny (the model is told: ${reason ?? "no"})`;
  if (action === "allow") return "allow";
  const many = quorum === undefined ? "a person" : `${quorum} people`;
  return `ask (${many}${approvers === undefined ? "" : `, ${approvers} and above`})`;
}
