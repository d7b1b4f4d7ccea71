import type * as z from "zod";

import { toError } from "../../../src/lib/app-error.ts";
import { limits } from "../../../src/protocol/limits.ts";
import { toolDefinitions } from "../../../src/protocol/tools.ts";
import type { toolInputs, ToolName } from "../../../src/protocol/tools.ts";
import { fitToolOutput } from "../text.ts";

/** A last resort: tools cut their output themselves, and say in a line of their own what is missing. */
const maxOutputChars = limits.toolOutputChars + 1_500;

export interface ToolOutput {
  readonly output: string;
  readonly isError: boolean;
}

/** What a tool may use while it runs. */
export interface ToolContext {
  readonly callId: string;
  /** Aborted when the turn is cancelled; a tool then ends soon, whatever it returns. */
  readonly signal: AbortSignal;
  /** Lets the host run the tool. */
  readonly askHost: (name: ToolName, input: unknown) => Promise<ToolOutput>;
}

export type ToolInput<Name extends ToolName> = z.infer<(typeof toolInputs)[Name]>;

/** A tool that the model sees. `execute` may throw: that becomes an error result. */
export interface Tool<Name extends ToolName> {
  readonly name: Name;
  readonly description: string;
  readonly schema: (typeof toolInputs)[Name];
  /** Changes nothing, so that calls next to each other may run at the same time. */
  readonly readsOnly: boolean;
  execute(input: ToolInput<Name>, context: ToolContext): Promise<ToolOutput>;
}

/** A tool for any input. Never rejects. */
export interface RunnableTool {
  readonly readsOnly: boolean;
  run(input: unknown, context: ToolContext): Promise<ToolOutput>;
}

/** Puts the check of the input, the cap on the output and the catching of errors around a tool. */
export function runnable<Name extends ToolName>(tool: Tool<Name>): RunnableTool {
  return {
    readsOnly: tool.readsOnly,
    run: async (input, context) => {
      const parsed = tool.schema.safeParse(input);
      if (!parsed.success) return failure(`The input of ${tool.name} is wrong: ${wrongFields(parsed.error)}`);
      try {
        const { output, isError } = await tool.execute(parsed.data as ToolInput<Name>, context);
        return { output: fitToolOutput(output, maxOutputChars), isError };
      } catch (error) {
        return failure(fitToolOutput(`${tool.name} failed: ${toError(error).message}`));
      }
    },
  };
}

export function success(output: string): ToolOutput {
  return { output, isError: false };
}

export function failure(output: string): ToolOutput {
  return { output, isError: true };
}

export function descriptionOf(name: ToolName): string {
  return toolDefinitions.find((definition) => definition.name === name)?.description ?? name;
}

function wrongFields(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.join(".") || "input"}: ${issue.message}`).join("; ");
}
