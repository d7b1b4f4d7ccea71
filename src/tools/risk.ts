import { posix } from "node:path";

import { isAtLeastRisk, risks } from "../domain/rights/policy.ts";
import type { Risk } from "../domain/rights/policy.ts";
import { isProtectedFileName } from "../domain/rights/protected-file.ts";
import type { Stakes } from "../domain/rights/stakes.ts";
import type { ParsedLine } from "../rights/policy/shell/findings.ts";
import { judgeCommand } from "../rights/policy/shell/judge-command.ts";
import { containerPaths } from "../protocol/paths.ts";
import { isSecretPath } from "../protocol/secret-names.ts";
import type { Tool } from "./catalog.ts";
import { type CommandTool, isCommandTool } from "./skills/command-tool.ts";

/** The risk of a call. */
export interface JudgedRisk {
  readonly risk: Risk;
  /** One line about the word or construct that decided, of a command that is not low. */
  readonly why?: string | undefined;
  /** For patterns of rules, of a command. */
  readonly line?: ParsedLine | undefined;
}

/** Tells the risk of a tool's calls more exactly than the tool itself does, from one field of its input. */
interface Refinement {
  readonly field: string;
  readonly risk: (value: string, stakes: Stakes) => Risk | Promise<JudgedRisk>;
}

const reading: Refinement = { field: "path", risk: riskOfReading };
const writing: Refinement = { field: "path", risk: riskOfWriting };

const refinements: ReadonlyMap<string, Refinement> = new Map([
  ["read_file", reading],
  ["view_image", reading],
  ["search_files", reading],
  ["write_file", writing],
  ["edit_file", writing],
  ["shell", { field: "command", risk: judgeCommand }],
]);

/** The risk of this call. Input that the tool does not understand is the worst that it could be. */
export async function riskOf(tool: Tool, input: unknown, stakes: Stakes): Promise<JudgedRisk> {
  const parsed = tool.input.safeParse(input);
  if (!parsed.success) return { risk: "high" };
  if (isCommandTool(tool)) return riskOfCommand(tool, parsed.data, stakes);
  const refinement = refinements.get(tool.name);
  if (refinement) {
    const value: unknown = (parsed.data as Readonly<Record<string, unknown>>)[refinement.field];
    const found = await refinement.risk(typeof value === "string" ? value : "", stakes);
    return typeof found === "string" ? { risk: found } : found;
  }
  return { risk: typeof tool.risk === "string" ? tool.risk : judgedByTool(tool.risk, parsed.data) };
}

/** No less than what its author says, and no less than what its command does. */
async function riskOfCommand(tool: CommandTool, input: unknown, stakes: Stakes): Promise<JudgedRisk> {
  try {
    const { risk, why } = await judgeCommand(tool.commandOf(input).command, stakes);
    return isAtLeastRisk(risk, tool.leastRisk) ? { risk, why } : { risk: tool.leastRisk };
  } catch {
    return { risk: "high" };
  }
}

/** All risks that calls of this tool may have, also those with input that it does not understand. */
export function possibleRisks(tool: Tool): readonly Risk[] {
  const stated = statedRisk(tool);
  return stated === "by input" ? risks : [stated, "high"];
}

/** The risk of all calls that the tool understands; `by input` where it depends on what it is called with. */
export function statedRisk(tool: Tool): Risk | "by input" {
  return typeof tool.risk === "string" && !refinements.has(tool.name) ? tool.risk : "by input";
}

/** A tool from outside may fail in this as in anything. */
function judgedByTool(judge: Exclude<Tool["risk"], string>, input: Record<string, unknown>): Risk {
  try {
    return judge(input);
  } catch {
    return "high";
  }
}

/** In the container itself there are no secrets; in folders of the machine there may be. */
function riskOfReading(path: string): Risk {
  return isSecretPath(posix.normalize(path)) ? "high" : "low";
}

/**
 * Instructions and folders of the machine are worth a question, all else is the group's own. A relative path begins
 * where the shell is, which the host does not know: it counts as one of the machine's where there is any.
 */
function riskOfWriting(path: string, { writableMount }: Stakes): Risk {
  const isInHome = path === "~" || path.startsWith("~/");
  if (!path.startsWith("/") && !isInHome && writableMount) return "high";
  const full = isInHome ? posix.join(containerPaths.home, path.slice(1)) : posix.resolve(containerPaths.group, path);
  if (isProtectedFileName(posix.basename(full))) return "high";
  return ownFolders.some((folder) => full.startsWith(`${folder}/`)) ? "medium" : "high";
}

const ownFolders = [containerPaths.group, containerPaths.scratch, containerPaths.home, containerPaths.temporary];
