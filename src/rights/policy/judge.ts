import { serverToolSeparator } from "../../domain/sandbox/mcp-server.ts";
import { isAtLeastRisk, isInRange } from "../../domain/rights/policy.ts";
import type { Risk, Rule, Provenance, ToolPolicy, Verdict } from "../../domain/rights/policy.ts";
import { fitsPattern } from "./pattern.ts";
import type { ParsedLine } from "./shell/findings.ts";

const shell = "shell";

/** A tool call, as far as rules look at it. That there is such a tool is for others to see to. */
export interface JudgedCall extends Provenance {
  readonly tool: string;
  readonly input: unknown;
  readonly risk: Risk;
  /** A command that was parsed. */
  readonly line?: ParsedLine | undefined;
}

/** A rule that was looked at; `misfit` says why it does not fit, and is undefined for the one that decided. */
export interface LookedAt {
  readonly rule: Rule;
  readonly misfit: string | undefined;
}

/**
 * Judges a call by the first rule that fits it, and tells which rules were looked at for that. Where none fits, it is
 * denied.
 */
export function judgeCall(
  call: JudgedCall,
  { rules }: ToolPolicy,
): { readonly verdict: Verdict; readonly looked: readonly LookedAt[] } {
  const looked: LookedAt[] = [];
  for (const rule of rules) {
    const misfit = misfitOf(rule, call);
    looked.push({ rule, misfit });
    if (misfit === undefined) return { verdict: verdictOf(rule, call), looked };
  }
  return { verdict: { action: "deny", risk: call.risk, rule: "no rule fits", reason: refusal(call.tool) }, looked };
}

/** True when every possible call of the tool would be denied. */
export function isAlwaysDenied(tool: string, possible: readonly Risk[], { rules }: ToolPolicy): boolean {
  let open = possible;
  for (const { tools, exceptTools, risk = "low", role, origins, match, action } of rules) {
    if (!isForTool({ tools, exceptTools }, tool)) continue;
    if (!open.some((one) => isAtLeastRisk(one, risk))) continue;
    if (action !== "deny") return false;
    const isCertain = role === undefined && origins === undefined && match === undefined;
    if (isCertain) open = open.filter((one) => !isAtLeastRisk(one, risk));
  }
  return true;
}

function isForTool({ tools, exceptTools }: Pick<Rule, "tools" | "exceptTools">, tool: string): boolean {
  return (tools === undefined || names(tools, tool)) && !names(exceptTools ?? [], tool);
}

/** By its name, or as one of those of its server: `files__*`. */
function names(rule: readonly string[], tool: string): boolean {
  return rule.some(
    (name) => name === tool || (name.endsWith(`${serverToolSeparator}*`) && tool.startsWith(name.slice(0, -1))),
  );
}

function toolsOf({ tools, exceptTools = [] }: Rule): string {
  return tools?.join(", ") ?? `all but ${exceptTools.join(", ")}`;
}

function verdictOf({ action, name, quorum, approvers }: Rule, { tool, risk }: JudgedCall): Verdict {
  if (action === "ask") return { action, risk, rule: name, quorum, approvers };
  return action === "allow" ? { action, risk, rule: name } : { action, risk, rule: name, reason: refusal(tool) };
}

function refusal(tool: string): string {
  return `The operator's policy does not allow "${tool}" in this group. Continue without it.`;
}

/** Returns why the rule does not match the call, as the end of a sentence about the rule. */
function misfitOf(rule: Rule, call: JudgedCall): string | undefined {
  const { risk, role, origins, match } = rule;
  if (!isForTool(rule, call.tool)) return `is for ${toolsOf(rule)}`;
  if (risk !== undefined && !isAtLeastRisk(call.risk, risk))
    return `is for risk ${risk} and above, this is ${call.risk}`;
  if (role !== undefined && !isInRange(call.role, role)) return `is for role ${role}, this is asked by ${call.role}`;
  if (origins !== undefined && !origins.some((origin) => call.origins.includes(origin)))
    return `is for turns that have read ${origins.join(" or ")}, this one has read ${call.origins.join(", ") || "nothing"}`;
  return match === undefined ? undefined : misfitOfMatch(match, rule, call);
}

/**
 * Matches a pattern. Rules that allow fit one simple command, so that nothing beside it is allowed along; others fit
 * wherever it stands in the line.
 */
function misfitOfMatch(match: string, { action }: Rule, call: JudgedCall): string | undefined {
  const { tool, line } = call;
  const pattern = JSON.stringify(match);
  if (action === "allow" && tool === shell && line?.isOneCommand !== true)
    return `allows one simple command like ${pattern}, without expansions and files that are redirected`;
  const texts = [textOf(call), ...(action === "allow" ? [] : (line?.commands ?? []))];
  return texts.some((text) => fitsPattern(text, match)) ? undefined : `is for input like ${pattern}`;
}

/** Text that patterns are matched with. */
function textOf({ tool, input }: JudgedCall): string {
  if (tool === shell && typeof input === "object" && input !== null && "command" in input) {
    if (typeof input.command === "string") return input.command;
  }
  return JSON.stringify(input ?? null);
}
