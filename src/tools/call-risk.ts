import type { ToolCall } from "../domain/model.ts";
import { judgeCommand } from "../policy/shell/judge-command.ts";
import type { ToolRisk } from "../protocol/tools.ts";
import type { Tool } from "./catalog.ts";

/** Tools that run a line of bash: which field of their input holds it. */
const commandFields: ReadonlyMap<string, string> = new Map([["shell", "command"]]);

/**
 * How much harm this very call can do: of a command line what its words can do, of all other tools what the tool itself says.
 * Input that does not fit is `high`: nothing is known of it, and the tool will refuse it.
 */
export async function judgeCallRisk(tool: Tool, { input }: Pick<ToolCall, "input">): Promise<ToolRisk> {
  const parsed = tool.input.safeParse(input);
  if (!parsed.success) return "high";
  const field = commandFields.get(tool.name);
  const command = field === undefined ? undefined : parsed.data[field];
  if (typeof command === "string") return (await judgeCommand(command)).risk;
  return typeof tool.risk === "string" ? tool.risk : tool.risk(parsed.data);
}
