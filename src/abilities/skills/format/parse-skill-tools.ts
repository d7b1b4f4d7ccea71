import * as z from "zod";

import { risks } from "../../../domain/rights/policy.ts";
import { type SkillFault, skillLimits, skillToolsFile } from "../../../domain/sandbox/skill.ts";
import { mostSkillTools, type SkillTool } from "../../../domain/rights/skill-tool.ts";
import { toError } from "../../../lib/app-error.ts";
import { containerPaths } from "../../../protocol/paths.ts";
import { textOf, type SkillTree } from "../tree/skill-tree.ts";
import { type CommandTemplate, placePattern, readTemplate } from "./command-template.ts";

export type SkillToolsReading =
  | { readonly ok: true; readonly tools: readonly SkillTool[] }
  | { readonly ok: false; readonly faults: readonly SkillFault[] };

const toolNameChars = 64;
const line = z.string().trim().min(1).max(1_024);
const value = z.union([z.string().max(1_000), z.number(), z.boolean()]);

const argument = z
  .strictObject({
    type: z.enum(["string", "integer", "number", "boolean"]).default("string"),
    description: line,
    enum: z.array(z.string().min(1).max(200)).min(1).max(50).optional(),
    default: value.optional(),
  })
  .refine(({ type, enum: choices }) => choices === undefined || type === "string", "only a string has an enum")
  .refine(
    ({ type, enum: choices, default: taken }) => taken === undefined || fits(taken, type, choices),
    "its default does not fit its type or enum",
  );

/** `city = "Name of the city"`, or a table. */
const args = z.record(
  z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, "may hold a to z, digits and _, and begins with a letter"),
  z.union([line.transform((description) => ({ type: "string" as const, description })), argument]),
);

const tool = z.strictObject({
  name: z.string().regex(/^[a-z0-9]+(?:[_-][a-z0-9]+)*$/, "may hold a to z, digits, and single - or _ between them"),
  description: line,
  kind: z.string().regex(/^(?:shell|script|http)$/, "is shell, script or http"),
  command: z.string().trim().min(1).max(4_000),
  args: args.default({}),
  risk: z.enum(risks).default("medium"),
  timeout_s: z.number().int().min(1).max(3_600).default(120),
});

type Written = z.output<typeof tool>;

const manifest = z.strictObject({
  /** Facts for other programs; here SKILL.md has them. */
  skill: z
    .strictObject({
      name: line.optional(),
      description: line.optional(),
      version: line.optional(),
      author: z.string().max(200).optional(),
      tags: z.array(z.string().max(100)).max(50).optional(),
    })
    .optional(),
  tools: z.array(tool).max(mostSkillTools, `at most ${mostSkillTools} tools`).default([]),
});

/** The tools that a skill brings, of its SKILL.toml; none where it has no such file. */
export async function readSkillTools(skill: string, tree: SkillTree): Promise<SkillToolsReading> {
  const file = tree.files.find(({ path }) => path === skillToolsFile);
  if (!file) return { ok: true, tools: [] };
  if (file.bytes.length > skillLimits.textBytes) return failed("", `is larger than ${skillLimits.textBytes} bytes`);
  const text = textOf(file.bytes);
  if (text === undefined) return failed("", "is not UTF-8 text");
  let parsed: unknown;
  try {
    const { parse } = await import("smol-toml");
    parsed = parse(text, { maxDepth: 16 });
  } catch (error) {
    return failed("", `is not valid TOML: ${toError(error).message.split("\n")[0] ?? ""}`);
  }
  const read = manifest.safeParse(parsed);
  if (!read.success) return { ok: false, faults: read.error.issues.map(({ path, message }) => faultAt(path, message)) };
  const named = read.data.skill?.name;
  if (named !== undefined && named !== skill)
    return failed("skill.name", `is "${named}", and SKILL.md says "${skill}"`);
  return readAll(skill, read.data.tools, tree);
}

async function readAll(skill: string, written: readonly Written[], tree: SkillTree): Promise<SkillToolsReading> {
  const tools: SkillTool[] = [];
  const faults: SkillFault[] = [];
  for (const [index, one] of written.entries()) {
    const read = await readTool(skill, one, tree);
    const isTwice = tools.some(({ name }) => name === `${skill}__${one.name}`);
    if (typeof read === "string") faults.push(faultAt(["tools", index, one.name], read));
    else if (isTwice) faults.push(faultAt(["tools", index, one.name], "there are two tools of this name"));
    else tools.push(read);
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, tools };
}

/** A string says what is wrong with it. */
async function readTool(skill: string, written: Written, tree: SkillTree): Promise<SkillTool | string> {
  const { kind, command, timeout_s: timeoutSeconds, description, risk } = written;
  const name = `${skill}__${written.name}`;
  if (name.length > toolNameChars) return `its whole name, ${name}, is longer than ${toolNameChars} characters`;
  const known = Object.keys(written.args);
  const used = command.split(placePattern).filter((_, index) => index % 2 === 1);
  const unknown = used.find((one) => !known.includes(one));
  if (unknown !== undefined) return `command has {{${unknown}}}, and args has no ${unknown}`;
  const unused = known.find((one) => !used.includes(one));
  if (unused !== undefined) return `args has ${unused}, and command has no {{${unused}}}`;
  const template = await templateOf(skill, written, tree);
  if (typeof template === "string") return template;
  const given = Object.entries(written.args).map(([argumentName, rest]) => ({ name: argumentName, ...rest }));
  const { pieces, beginsWord } = template;
  const said = {
    name,
    skill,
    description,
    kind,
    isAddress: isAddress(kind),
    command,
    args: given,
    risk,
    timeoutSeconds,
  };
  return { ...said, pieces, beginsWord: [...beginsWord] };
}

async function templateOf(
  skill: string,
  { kind, command }: Written,
  tree: SkillTree,
): Promise<CommandTemplate | string> {
  if (isAddress(kind)) return addressTemplate(command);
  const whole = kind === "script" ? scriptLine(skill, command, tree) : command;
  if (typeof whole !== "string") return whole.fault;
  const read = await readTemplate(whole);
  return read.ok ? read.template : `command ${read.detail}`;
}

function isAddress(kind: string): boolean {
  return /^http$/.test(kind);
}

const interpreters: Readonly<Record<string, string>> = {
  sh: "bash",
  bash: "bash",
  py: "python3",
  js: "node",
  mjs: "node",
};

/** The file of the skill with what runs it. */
function scriptLine(skill: string, command: string, { files }: SkillTree): string | { readonly fault: string } {
  const [path = ""] = /^[\w./-]+/.exec(command) ?? [];
  const file = files.find((one) => one.path === path.replace(/^\.\//, ""));
  if (!file) return { fault: `command has to begin with a file of the skill, and there is no "${path}"` };
  const program = file.isExecutable ? undefined : interpreters[/\.(\w+)$/.exec(file.path)?.[1] ?? ""];
  if (!file.isExecutable && program === undefined)
    return { fault: `${file.path} cannot be run: make it executable, or call it .sh, .py, .js or .mjs` };
  const whole = `${containerPaths.skills}/${skill}/${file.path}`;
  return `${program === undefined ? "" : `${program} `}${whole}${command.slice(path.length)}`;
}

/** Template of an address. Values go into path or query, so only the author chooses the host. */
function addressTemplate(command: string): CommandTemplate | string {
  const pieces = command.split(placePattern);
  const beginning = /^https?:\/\/[\w.-]+(?::\d+)?[/?]/.exec(pieces[0] ?? "");
  if (!beginning || !URL.canParse(command.replaceAll(new RegExp(placePattern, "g"), "x")))
    return "command has to be an address, http:// or https://, whose host is written out";
  if (/\s|["'`\\]/.test(command)) return "command has blanks, quotes or backslashes in its address";
  return { pieces, beginsWord: new Set() };
}

function fits(taken: unknown, type: string, choices: readonly string[] | undefined): boolean {
  if (type === "integer") return Number.isSafeInteger(taken);
  if (typeof taken !== type) return false;
  return choices === undefined || choices.includes(taken as string);
}

function faultAt(path: readonly PropertyKey[], detail: string): SkillFault {
  const at = path.map(String).join(".");
  return { path: at === "" ? skillToolsFile : `${skillToolsFile}: ${at}`, detail };
}

function failed(at: string, detail: string): SkillToolsReading {
  return { ok: false, faults: [faultAt(at === "" ? [] : [at], detail)] };
}
