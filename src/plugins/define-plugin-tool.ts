import type * as z from "zod";

import { sourced } from "../domain/rights/sourced.ts";
import type { ToolOutput } from "../protocol/tools.ts";
import { toToolOutput } from "../protocol/tools.ts";
import { defineTool, type HostTool, type ToolPorts } from "../tools/define-tool.ts";

type HostDefinition<Schema extends z.ZodObject, Need extends keyof ToolPorts, Config extends z.ZodObject> = Parameters<
  typeof defineTool<Schema, Need, Config>
>[0];

/** The same, with an answer in plain words: whatever a tool from outside says has the origin `tool`. */
type PluginToolDefinition<Schema extends z.ZodObject, Need extends keyof ToolPorts, Config extends z.ZodObject> = Omit<
  HostDefinition<Schema, Need, Config>,
  "run"
> & {
  run(
    ...call: Parameters<HostDefinition<Schema, Need, Config>["run"]>
  ): Promise<string | Pick<ToolOutput, "output" | "isError">>;
};

/** Defines a tool of a plugin. */
export function definePluginTool<
  Schema extends z.ZodObject,
  Need extends keyof ToolPorts = never,
  Config extends z.ZodObject = z.ZodObject,
>(definition: PluginToolDefinition<Schema, Need, Config>): HostTool {
  return defineTool<Schema, Need, Config>({
    ...definition,
    run: async (...call) => {
      const { output, isError } = toToolOutput(await definition.run(...call));
      return { output: sourced(output, ["tool"]), isError };
    },
  });
}
