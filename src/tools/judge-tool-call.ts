import type { ToolCall } from "../domain/turns/model.ts";
import type { CalledCommand, Risk, Provenance, Verdict } from "../domain/rights/policy.ts";
import { judgeCall } from "../rights/policy/judge.ts";
import type { LookedAt } from "../rights/policy/judge.ts";
import type { Stakes } from "../domain/rights/stakes.ts";
import { roles } from "../domain/people/role.ts";
import { toError } from "../lib/app-error.ts";
import { parseToolInput } from "../protocol/tools.ts";
import { abilityOf, asksAlways, policyFor } from "./registry.ts";
import type { Tool } from "./catalog.ts";
import type { Audience, ToolRegistry, Withheld } from "./registry.ts";
import { riskOf } from "./risk.ts";
import type { JudgedRisk } from "./risk.ts";
import { type CommandTool, isCommandTool, shellTool } from "./skills/command-tool.ts";

/** Circumstances for judging a call. */
export interface Circumstances {
  readonly registry: Pick<ToolRegistry, "get" | "tools" | "withheld">;
  readonly audience: Audience;
  readonly stakes: Stakes;
  readonly provenance: Provenance;
}

/** Verdict on a call, and the rules consulted: none for an unknown or unavailable tool. */
export interface JudgedToolCall {
  readonly verdict: Verdict;
  readonly looked: readonly LookedAt[];
  /** One line about the word or construct that a command has its risk from. */
  readonly why?: string | undefined;
}

/** Judges one call: is the tool known, do channel and models support it, and what says the policy? */
export async function judgeToolCall(
  { name, input }: Pick<ToolCall, "name" | "input">,
  { registry, audience, stakes, provenance }: Circumstances,
): Promise<JudgedToolCall> {
  const tool = registry.get(name);
  if (!tool) {
    const names = registry.tools.map((known) => known.name);
    return refuse("high", "unknown tool", describeUnknownTool(name, names));
  }
  const judged = await riskOf(tool, input, stakes);
  const { risk, why, line } = judged;
  const withheld = registry.withheld(tool, audience);
  if (withheld !== undefined && withheld !== "policy") return refuse(risk, ...refusalOf[withheld](tool));
  if (isCommandTool(tool)) return judgeCommandCall({ tool, input, judged }, { registry, audience, stakes, provenance });
  const fault = asksAlways(tool) ? faultOf(tool, input) : undefined;
  if (fault !== undefined) return refuse(risk, "its input does not fit", fault);
  return { ...judgeCall({ ...provenance, tool: name, input, risk, line }, policyFor(tool, audience.policy)), why };
}

/** Rule and reason for a withheld tool. A policy's denial names its own rule. */
const refusalOf: Readonly<Record<Exclude<Withheld, "policy">, (tool: Tool) => readonly [string, string]>> = {
  channel: (tool) => [
    "the channel cannot do that",
    `"${tool.name}" does not work here: this chat has no ${abilityOf(tool)}. Do without it.`,
  ],
  model: () => ["the model cannot call tools", "This model cannot call tools. Do without them."],
  sessions: () => ["no other sessions may be seen", "You may see no other sessions here. Do without them."],
  memory: () => ["the group remembers nothing", "This group remembers nothing. Do without it."],
  skills: () => ["the group has no skills", "This group has no skills. Do without them."],
  web: ({ name }) => ["the group may not go there", `"${name}" is switched off for this group. Do without it.`],
  browser: () => ["the group has no browser", "This group has no browser. Do without it."],
  speech: () => ["nothing speaks for the group", "Nothing says your words aloud here. Write them instead."],
  vision: () => ["the model cannot see", "This model cannot be shown images. Do without it."],
  right: ({ name }) => [
    "not for this agent",
    `"${name}" is not for you here: what should be said or done in the chat goes into your answer. Do without it.`,
  ],
  plugin: ({ name }) => ["its plugin is missing", `"${name}" is not available at present. Do without it.`],
};

/** By its own name, and as the command that it is: what is stricter counts. */
async function judgeCommandCall(
  { tool, input, judged }: { readonly tool: CommandTool; readonly input: unknown; readonly judged: JudgedRisk },
  circumstances: Circumstances,
): Promise<JudgedToolCall> {
  const { audience, provenance } = circumstances;
  const { risk, why } = judged;
  let command: CalledCommand;
  try {
    command = tool.commandOf(input);
  } catch (error) {
    return refuse(risk, "its input does not fit", toError(error).message);
  }
  const own = judgeCall({ ...provenance, tool: tool.name, input, risk }, audience.policy);
  const asShell = await judgeToolCall({ name: shellTool, input: command }, circumstances);
  const looked = [...own.looked, ...asShell.looked];
  const stricter = strictness(asShell.verdict) > strictness(own.verdict) ? asShell.verdict : own.verdict;
  if (stricter.action !== "deny") return { verdict: { ...stricter, risk, command }, looked, why };
  const reason = `"${tool.name}" runs a command, and may not run this one here. Do without it.`;
  return { verdict: stricter === own.verdict ? stricter : { ...stricter, reason }, looked, why };
}

function strictness({ action, quorum = 1, approvers }: Verdict): number {
  if (action !== "ask") return action === "deny" ? Infinity : 0;
  return 1 + quorum * 10 + (approvers === undefined ? 0 : roles.indexOf(approvers));
}

/** Returns why a call is impossible, so that nobody is asked about it. */
function faultOf(tool: Tool, input: unknown): string | undefined {
  try {
    parseToolInput(tool, input);
    return undefined;
  } catch (error) {
    return toError(error).message;
  }
}

/** For the model; `names` are those that it knows. */
export function describeUnknownTool(name: string, names: readonly string[]): string {
  return `There is no tool "${name}". ${names.length === 0 ? "There are none here." : `Tools: ${names.join(", ")}.`}`;
}

function refuse(risk: Risk, rule: string, reason: string): JudgedToolCall {
  return { verdict: { action: "deny", risk, rule, reason }, looked: [] };
}
