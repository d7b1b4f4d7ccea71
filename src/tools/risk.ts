import { posix } from "node:path";

import { isAtLeastRisk, risks } from "../domain/rights/policy.ts";
import type { Risk } from "../domain/rights/policy.ts";
import { isProtectedFileName } from "../domain/rights/protected-file.ts";
import { judgeCommand } from "../rights/policy/shell/judge-command.ts";
import { containerPaths } from "../protocol/paths.ts";
import { isSecretPath } from "../protocol/secret-names.ts";
import type { Tool } from "./catalog.ts";
import { type CommandTool, isCommandTool } from "./skills/command-tool.ts";

/** Context for the risk of a call. */
export interface RiskContext {
  /** The group has a folder of the machine that its agent may write to. */
  readonly hasWritableMount: boolean;
}

/** Tells the risk of a tool's calls more exactly than the tool itself does, from one field of its input. */
interface Refinement {
  readonly field: string;
  readonly risk: (value: string, place: RiskContext) => Risk | Promise<Risk>;
}

const reading: Refinement = { field: "path", risk: riskOfReading };
const writing: Refinement = { field: "path", risk: riskOfWriting };

const refinements: ReadonlyMap<string, Refinement> = new Map([
  ["read_file", reading],
  ["view_image", reading],
  ["search_files", reading],
  ["write_file", writing],
  ["edit_file", writing],
  ["shell", { field: "command", risk: async (command) => (await judgeCommand(command)).risk }],
]);

/** The risk of this call. Input that the tool does not understand is the worst that it could be. */
export async function riskOf(tool: Tool, input: unknown, place: RiskContext): Promise<Risk> {
  const parsed = tool.input.safeParse(input);
  if (!parsed.success) return "high";
  if (isCommandTool(tool)) return riskOfCommand(tool, parsed.data);
  const refinement = refinements.get(tool.name);
  if (refinement) {
    const value: unknown = (parsed.data as Readonly<Record<string, unknown>>)[refinement.field];
    return refinement.risk(typeof value === "string" ? value : "", place);
  }
  return typeof tool.risk === "string" ? tool.risk : judgedByTool(tool.risk, parsed.data);
}

/** No less than what its author says, and no less than what its command does. */
async function riskOfCommand(tool: CommandTool, input: unknown): Promise<Risk> {
  try {
    const { risk } = await judgeCommand(tool.commandOf(input).command);
    return isAtLeastRisk(risk, tool.leastRisk) ? risk : tool.leastRisk;
  } catch {
    return "high";
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
function riskOfWriting(path: string, { hasWritableMount }: RiskContext): Risk {
  const isInHome = path === "~" || path.startsWith("~/");
  if (!path.startsWith("/") && !isInHome && hasWritableMount) return "high";
  const full = isInHome ? posix.join(containerPaths.home, path.slice(1)) : posix.resolve(containerPaths.group, path);
  if (isProtectedFileName(posix.basename(full))) return "high";
  return ownFolders.some((folder) => full.startsWith(`${folder}/`)) ? "medium" : "high";
}

const ownFolders = [containerPaths.group, containerPaths.scratch, containerPaths.home, containerPaths.temporary];
