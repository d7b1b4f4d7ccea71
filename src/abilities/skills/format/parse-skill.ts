import { LineCounter, parseDocument } from "yaml";
import * as z from "zod";

import { type SkillFacts, type SkillFault, skillNameFault } from "../../../domain/sandbox/skill.ts";
import { toError } from "../../../lib/app-error.ts";

export type SkillCheck =
  | { readonly ok: true; readonly facts: SkillFacts }
  | { readonly ok: false; readonly faults: readonly SkillFault[] };

const line = z.string().trim();

/** Coerces the author's value to text. */
const asText = z.unknown().transform((value) => (typeof value === "string" ? value : JSON.stringify(value)));

const frontMatterKeys = {
  name: line.superRefine((name, context) => {
    const fault = skillNameFault(name);
    if (fault !== undefined) context.addIssue(fault);
  }),
  description: line
    .min(1, "must say what the skill does and when to use it")
    .max(1_024, "is too long: at most 1,024 characters are allowed"),
  license: line.min(1).max(1_024).optional(),
  compatibility: line.min(1).max(500).optional(),
  metadata: z.record(z.string().max(64), asText.pipe(z.string().max(4_096))).optional(),
  /** Some write a list. */
  "allowed-tools": z
    .preprocess((value) => (Array.isArray(value) ? value.join(" ") : value), z.string().max(4_096))
    .optional(),
};

/** Front matter by https://agentskills.io/specification. Unknown keys of other programs are ignored and reported. */
const frontMatter = z.looseObject(frontMatterKeys);

/** `Bash(git add *), Read` are two tools. */
const allowedTool = /[^\s,(]+(?:\([^)]*\))?/g;

const opening = /^\u{FEFF}?---[ \t]*\r?\n/u;
const closing = /^---[ \t]*\r?$/m;

/**
 * Parses SKILL.md of a folder (undefined: any name): front matter between two lines of `---`, then the text for agents.
 */
export function parseSkill(folder: string | undefined, text: string): SkillCheck {
  const [start] = opening.exec(text) ?? [];
  if (start === undefined) return failed("line 1", "must begin with front matter: a line of ---");
  const end = closing.exec(text.slice(start.length));
  if (!end) return failed("line 1", "has no line of --- that ends the front matter");
  const read = readYaml(text.slice(start.length, start.length + end.index));
  if ("fault" in read) return { ok: false, faults: [read.fault] };
  const parsed = frontMatter.safeParse(read.value);
  if (!parsed.success)
    return { ok: false, faults: parsed.error.issues.flatMap((issue) => describe(issue, read.value)) };
  const facts = factsOf(parsed.data);
  if (folder !== undefined && facts.name !== folder)
    return failed("name", `is ${JSON.stringify(facts.name)}, and its folder is called "${folder}": give both one name`);
  if (text.slice(start.length + end.index + end[0].length).trim() === "")
    return failed("", "says nothing behind its front matter: how is it done?");
  return { ok: true, facts };
}

function factsOf(data: z.output<typeof frontMatter>): SkillFacts {
  const { name, description, license, compatibility, metadata = {}, "allowed-tools": allowed = "" } = data;
  return {
    name,
    description,
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    metadata,
    allowedTools: allowed.match(allowedTool) ?? [],
    unknownKeys: Object.keys(data).filter((key) => !Object.hasOwn(frontMatterKeys, key)),
  };
}

type ReadYaml = { readonly value: unknown } | { readonly fault: SkillFault };

/** A plain value: nothing that begins a quoted text, block, list, map, alias or the like. */
const plainLine = /^([A-Za-z][\w-]*):[ \t]+(?=[^\s"'|>[{&*!%@`#])/;

/** Puts into quotes what stands on the line of its key. */
function withQuotes(text: string): string {
  const quoted = text.split("\n").map((each) => {
    const [start, key] = plainLine.exec(each) ?? [];
    return start === undefined ? each : `${key}: ${JSON.stringify(each.slice(start.length).trim())}`;
  });
  return quoted.join("\n");
}

/** Texts without the quotes that YAML wants are common; they mean what they look like. */
function readYaml(text: string): ReadYaml {
  const read = readPlainYaml(text);
  if ("value" in read) return read;
  const quoted = readPlainYaml(withQuotes(text));
  return "value" in quoted ? quoted : read;
}

function readPlainYaml(text: string): ReadYaml {
  const lines = new LineCounter();
  // Nothing but text, so that `metadata: {version: 1.0}` keeps what its author wrote.
  const options = { uniqueKeys: true, merge: false, version: "1.2", stringKeys: true, schema: "failsafe" } as const;
  const document = parseDocument(text, { ...options, lineCounter: lines, prettyErrors: false });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem) {
    // Line 1 is the one that opens it.
    const path = `line ${lines.linePos(problem.pos[0]).line + 1}`;
    return { fault: { path, detail: `this is not valid YAML: ${problem.message}` } };
  }
  try {
    return { value: document.toJS({ maxAliasCount: 16 }) ?? {} };
  } catch (error) {
    return { fault: { path: "line 2", detail: `this is not valid YAML: ${toError(error).message}` } };
  }
}

function describe(issue: z.core.$ZodIssue, value: unknown): SkillFault[] {
  const path = issue.path.map(String).join(".");
  const found: unknown = issue.path.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined),
    value,
  );
  if (found === undefined) return [{ path, detail: "is missing" }];
  const shown = typeof found === "string" ? ` ${JSON.stringify(found.slice(0, 80))}` : "";
  return [{ path, detail: `${shown.trim()} ${issue.message}`.trim() }];
}

function failed(path: string, detail: string): SkillCheck {
  return { ok: false, faults: [{ path, detail }] };
}

/** `SKILL.md: description: is missing` */
export function describeSkillFault({ path, detail }: SkillFault): string {
  return path === "" ? detail : `${path}: ${detail}`;
}
