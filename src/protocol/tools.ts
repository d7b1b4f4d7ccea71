import * as z from "zod";

import { limits } from "./limits.ts";

/**
 * Possible harm of a call: `low` reads or talks, `medium` changes or gives away the group's data, `high` can do
 * anything in its container.
 */
export type ToolRisk = "low" | "medium" | "high";

/**
 * Activity shown to members while a call runs: `{ doing: "running a command", shows: "command" }` gives `running a
 * command (npm test)`.
 */
export interface ToolActivity<Field extends string = string> {
  /** Activity, as in "Working for 20 s: …". */
  readonly doing: string;
  /** The field of the input that says with what. Its beginning is shown if it is text; secrets are taken out. */
  readonly shows?: Field;
}

/** A tool's definition, shared by host and agent. */
export interface ToolFacts<Schema extends z.ZodObject = z.ZodObject> {
  /** Name for the model: `[a-zA-Z0-9_-]{1,64}`, unique in a host. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** A `z.strictObject`. What a model sends is checked by it before the tool runs. */
  readonly input: Schema;
  /** JSON Schema for the model when it comes from another program and `input` takes any object. */
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
  /** Shows images, so that it is offered only where a model of the route can be shown any. */
  readonly needsVision?: boolean;
  /** Fixed, or by what it is called with. */
  readonly risk: ToolRisk | ((input: z.infer<Schema>) => ToolRisk);
  /** A call that takes longer is given up and told to the model as timed out. */
  readonly timeoutSeconds: number;
  /** In words for members. Default: `using` and the tool's name. */
  readonly activity?: ToolActivity<keyof z.infer<Schema> & string> | undefined;
}

/** The result of a call, as text for the model. */
export interface ToolOutput {
  readonly output: string;
  readonly isError: boolean;
}

/** A tool's failure. The message is for the model: what failed, with which value, what to do. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** A plain string is the output of a call that went well. */
export function toToolOutput<Output extends ToolOutput = ToolOutput>(result: string | Output): ToolOutput | Output {
  return typeof result === "string" ? { output: result, isError: false } : result;
}

/** The input of a call as its tool wants it. Throws ToolError with the fields that are wrong. */
export function parseToolInput<Schema extends z.ZodObject>(
  { name, input: schema }: Pick<ToolFacts<Schema>, "name" | "input">,
  input: unknown,
): z.infer<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((issue) => `${issue.path.join(".") || "input"}: ${issue.message}`);
  throw new ToolError(`The input of ${name} is wrong: ${fields.join("; ")}`);
}

/** Told to the model of a call that was given up. */
export function timedOut(name: string, timeoutSeconds: number): ToolOutput {
  const output = `${name} timed out after ${timeoutSeconds} s. What it had done by then is not known.`;
  return { output, isError: true };
}

export const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);

/** An announced tool, for the agent to run or to forward. */
export const announcedTool = z.strictObject({
  name: toolName,
  runs: z.enum(["host", "container"]),
  /** Time limit in the agent. The host limits its own tools. */
  timeoutSeconds: z.number().positive().max(limits.toolTimeoutSeconds),
  /**
   * Fields of the input that are paths in the container: the agent makes them absolute and follows links before it asks
   * the host.
   */
  resolvePaths: z.array(z.string().min(1).max(64)).max(16),
});

export type AnnouncedTool = z.infer<typeof announcedTool>;
