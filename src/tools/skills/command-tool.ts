import * as z from "zod";

import type { Origin } from "../../domain/people/origin.ts";
import type { CalledCommand } from "../../domain/rights/policy.ts";
import type { SkillTool, SkillToolArgument } from "../../domain/rights/skill-tool.ts";
import { ToolError, parseToolInput } from "../../protocol/tools.ts";
import type { ToolFacts } from "../../protocol/tools.ts";

/** Name of the tool that runs commands. */
export const shellTool = "shell";

/** A tool whose calls are commands: the agent is given a call of `shell` in the place of each. */
export interface CommandTool extends ToolFacts {
  readonly runs: "container";
  readonly readsOnly: false;
  /** The skill that brings it. */
  readonly skill: string;
  /** Origins of its name, description and schema. */
  readonly origins: readonly Origin[];
  readonly leastRisk: SkillTool["risk"];
  /** The command of this call. Throws ToolError, with words for the model, for input that does not fit. */
  commandOf(input: unknown): CalledCommand;
}

/** Longer values belong into files. */
const valueChars = 4_000;
const commandChars = 16_000;

/** Makes a tool of what a skill says. `origins`: of the skill's words. */
export function toCommandTool(tool: SkillTool, origins: readonly Origin[]): CommandTool {
  const { name, skill, description, timeoutSeconds, risk } = tool;
  const facts = {
    name,
    description: `${description} (of the skill ${skill})`,
    input: z.strictObject(Object.fromEntries(tool.args.map((argument) => [argument.name, schemaOf(argument)]))),
    risk: () => risk,
    timeoutSeconds: timeoutSeconds + 30,
    activity: { doing: `using ${name}` },
  } as const;
  return {
    ...facts,
    runs: "container",
    readsOnly: false,
    skill,
    origins,
    leastRisk: risk,
    commandOf: (input) => {
      const values = parseToolInput(facts, input) as Readonly<Record<string, string | number | boolean>>;
      const command = commandWith(tool, (argument) => textOf(tool, argument, values[argument]));
      if (command.length > commandChars)
        throw new ToolError(`The command of ${name} would have ${command.length} characters; at most ${commandChars}.`);
      return { command, timeout_s: timeoutSeconds };
    },
  };
}

export function isCommandTool(tool: { readonly runs: string }): tool is CommandTool {
  return "commandOf" in tool;
}

function schemaOf({ type, description, enum: choices, default: taken }: SkillToolArgument): z.ZodType {
  const schema =
    type === "string"
      ? choices === undefined
        ? z.string().max(valueChars)
        : z.enum(choices)
      : { integer: z.int(), number: z.number(), boolean: z.boolean() }[type];
  const described = schema.describe(description);
  return taken === undefined ? described : (described as z.ZodString).default(taken as string);
}

function textOf(tool: SkillTool, argument: string, value: string | number | boolean | undefined): string {
  const text = String(value);
  const refused = (why: string): ToolError => new ToolError(`The input of ${tool.name} is wrong: ${argument}: ${why}`);
  if (text.includes("\0")) throw refused("contains a NUL character, which bash cannot take");
  if (!text.isWellFormed()) throw refused("is not valid Unicode");
  if (typeof value === "string" && text.startsWith("-") && tool.beginsWord.includes(argument))
    throw refused("begins with a hyphen, so that the program would take it for an option");
  if (tool.isAddress && /^\.{1,2}$/.test(text)) throw refused("would lead to another address");
  return text;
}

function commandWith({ isAddress, pieces, timeoutSeconds }: SkillTool, valueOf: (name: string) => string): string {
  const filled = (write: (text: string) => string): string =>
    pieces.map((piece, index) => (index % 2 === 1 ? write(valueOf(piece)) : piece)).join("");
  if (!isAddress) return filled(quoted);
  const address = quoted(filled(encodeURIComponent));
  const limits = `--max-time ${timeoutSeconds} --max-filesize 1048576`;
  return `curl --silent --show-error --fail-with-body --globoff --proto '=http,https' ${limits} -- ${address}`;
}

/** To bash this is one word or a part of one, whatever it holds. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
