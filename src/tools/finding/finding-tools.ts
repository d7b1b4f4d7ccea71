import * as z from "zod";

import type { ToolCall } from "../../domain/turns/model.ts";
import { ToolError } from "../../protocol/tools.ts";
import { defineTool, type HostTool } from "../define-tool.ts";

/** The longest that any tool behind it may take. */
const callSeconds = 300;

const callInput = z.strictObject({
  name: z.string().min(1).max(64).describe("A tool that find_tools has found."),
  input: z.record(z.string(), z.unknown()).optional().describe("As its schema says."),
});

/** Says which tools there are besides those that the model is shown. */
export const findTools: HostTool = defineTool({
  name: "find_tools",
  description:
    "Finds more tools than you are shown, by what they are for. Answers with their names, descriptions and schemas; call_tool calls them.",
  runs: "host",
  risk: "low",
  timeoutSeconds: 10,
  input: z.strictObject({ query: z.string().min(1).max(500).describe("What is to be done, in a few words.") }),
  activity: { doing: "looking for a tool", shows: "query" },
  needs: ["otherTools"],
  run: async ({ query }, { otherTools }) => otherTools.find(query),
});

/** Stands for a call of another tool, which is judged and run in its place: see `innerCall`. */
export const callTool: HostTool = defineTool({
  name: "call_tool",
  description: "Calls a tool that find_tools has found.",
  runs: "host",
  risk: "medium",
  timeoutSeconds: callSeconds,
  input: callInput,
  activity: { doing: "using", shows: "name" },
  run: async ({ name }) => {
    throw new ToolError(`There is no tool "${name}" that can be called like this. find_tools says which there are.`);
  },
});

export const findingTools: readonly HostTool[] = [callTool, findTools];

/** The call that is meant: what `call_tool` was given, or the call itself. */
export function innerCall(call: ToolCall): ToolCall {
  if (call.name !== callTool.name) return call;
  const parsed = callInput.safeParse(call.input);
  return parsed.success ? { ...call, name: parsed.data.name, input: parsed.data.input ?? {} } : call;
}
