import * as z from "zod";

import { limits } from "./limits.ts";

/**
 * How much harm a call can do: `low` looks or talks, `medium` changes or gives away something of the group's, `high`
 * can do anything that its container can.
 */
export type ToolRisk = "low" | "medium" | "high";

/**
 * What members are told while a call runs: `{ doing: "running a command", shows: "command" }` gives `running a command
 * (npm test)`.
 */
export interface ToolActivity<Field extends string = string> {
  /** What goes on, as it follows "Working for 20 s: ". */
  readonly doing: string;
  /** The field of the input that says with what. Its beginning is shown if it is text; secrets are taken out. */
  readonly shows?: Field;
}

/** What host and agent agree on about a tool, whichever of them runs it. */
export interface ToolFacts<Schema extends z.ZodObject = z.ZodObject> {
  /** What the model calls it: `[a-zA-Z0-9_-]{1,64}`, unique in a host. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** A `z.strictObject`. What a model sends is checked by it before the tool runs. */
  readonly input: Schema;
  /** What the model is told of the input, where its JSON Schema is another one's and `input` takes any object. */
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

/**
 * What a tool throws when it cannot do what it was asked for. The message is for the model: what failed, with which
 * value, what to do.
 */
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

/** What the agent has to know of a tool to run it, or to let the host run it. */
export const announcedTool = z.strictObject({
  name: toolName,
  runs: z.enum(["host", "container"]),
  /** How long the agent lets it run. The host looks to its own tools itself. */
  timeoutSeconds: z.number().positive().max(limits.toolTimeoutSeconds),
  /**
   * Fields of the input that are paths in the container: the agent makes them absolute and follows links before it asks
   * the host.
   */
  resolvePaths: z.array(z.string().min(1).max(64)).max(16),
});

export type AnnouncedTool = z.infer<typeof announcedTool>;
