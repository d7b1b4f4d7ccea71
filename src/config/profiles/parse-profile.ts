import { LineCounter, parseDocument } from "yaml";
import * as z from "zod";

import type { Profile } from "../../domain/rights/profile.ts";
import { toError } from "../../lib/app-error.ts";
import type { Adapters } from "../adapters.ts";
import { missing } from "../checks/missing.ts";
import { knownTools, unknownTool } from "../checks/policy-checks.ts";
import { type ConfigFault, describeIssues } from "../faults.ts";
import { yamlOptions } from "../loading/config-file.ts";
import { toRule } from "../resolve/policy.ts";
import type { Config } from "../schema/config.ts";
import { denial } from "../schema/policy.ts";

/** Maximum characters of a profile's text. */
const instructionChars = 32_000;

const listed = z.array(z.string().min(1).max(64)).max(256);

const frontMatter = z.strictObject({
  description: z.string().trim().min(1).max(1_000),
  route: z.string().min(1).max(64).optional(),
  tools: listed.optional(),
  skills: listed.optional(),
  permissions: z.array(denial).max(100).default([]),
});

/** Something that is wrong with a profile: `line` counts from 1 in its file. */
export interface ProfileFault extends ConfigFault {
  readonly line: number;
}

export type ProfileCheck =
  | { readonly ok: true; readonly profile: Profile }
  | { readonly ok: false; readonly faults: readonly ProfileFault[] };

/** Names that profiles can refer to: routes and tools. */
export interface ProfileNames {
  readonly routes: readonly string[];
  readonly tools: readonly string[];
}

/** Names that exist in this configuration. */
export function namesFor(config: Pick<Config, "models" | "mcp">, adapters: Pick<Adapters, "tools">): ProfileNames {
  return { routes: Object.keys(config.models.routes), tools: knownTools(config, adapters) };
}

const opening = /^\u{FEFF}?---[ \t]*\r?\n/u;
const closing = /^---[ \t]*\r?$/m;

/** Reads a profile: front matter between two lines of `---`, then the instructions. */
export function parseProfile(name: string, text: string, names: ProfileNames): ProfileCheck {
  const [start] = opening.exec(text) ?? [];
  if (start === undefined) return failed({ path: "", line: 1, detail: "must begin with front matter: a line of ---" });
  const end = closing.exec(text.slice(start.length));
  if (!end) return failed({ path: "", line: 1, detail: "has no line of --- that ends the front matter" });
  const read = readFrontMatter(text.slice(start.length, start.length + end.index));
  if ("faults" in read) return { ok: false, faults: read.faults };
  const { value, lineOf } = read;
  const instructions = text.slice(start.length + end.index + end[0].length).trim();
  const faults = [...namesFaults(value, names), ...instructionFaults(instructions)];
  if (faults.length > 0) return { ok: false, faults: faults.map((fault) => ({ ...fault, line: lineOf(fault.path) })) };
  const { description, route, tools, skills, permissions } = value;
  const of = ` of profile ${name}`;
  const ownTools = tools === undefined ? [] : [{ name: `tools${of}`, exceptTools: tools, action: "deny" as const }];
  const rules = [...ownTools, ...permissions.map((each, index) => toRule(each, `permissions[${index}]${of}`))];
  return { ok: true, profile: { name, description, route, tools, skills, rules, instructions } };
}

type FrontMatter = z.output<typeof frontMatter>;

function readFrontMatter(
  text: string,
):
  | { readonly value: FrontMatter; readonly lineOf: (path: string) => number }
  | { readonly faults: readonly ProfileFault[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...yamlOptions, lineCounter: lines, prettyErrors: false });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem) {
    const detail = `this is not valid YAML: ${problem.message}`;
    return { faults: [{ path: "", line: lines.linePos(problem.pos[0]).line + 1, detail }] };
  }
  let written: unknown;
  try {
    written = document.toJS({ maxAliasCount: 16 }) ?? {};
  } catch (error) {
    return { faults: [{ path: "", line: 2, detail: `this is not valid YAML: ${toError(error).message}` }] };
  }
  // Line 1 is the one that opens it.
  const lineOf = (path: string): number => {
    for (let keys = keysOf(path); keys.length > 0; keys = keys.slice(0, -1)) {
      const node = document.getIn(keys, true) as { readonly range?: readonly number[] } | undefined;
      const [offset] = node?.range ?? [];
      if (offset !== undefined) return lines.linePos(offset).line + 1;
    }
    return 2;
  };
  const parsed = frontMatter.safeParse(written);
  if (parsed.success) return { value: parsed.data, lineOf };
  const faults = describeIssues(parsed.error.issues, written, () => z.toJSONSchema(frontMatter, { io: "input" }));
  return { faults: faults.map((fault) => ({ ...fault, line: lineOf(fault.path) })) };
}

/** `tools[2]` → `["tools", 2]` */
function keysOf(path: string): (string | number)[] {
  return path.split(/[.[\]]+/).flatMap((key) => (key === "" ? [] : [/^\d+$/.test(key) ? Number(key) : key]));
}

function namesFaults({ route, tools = [], permissions }: FrontMatter, names: ProfileNames): ConfigFault[] {
  const inRules = permissions.flatMap(({ tool = "*" }, index) =>
    [tool]
      .flat()
      .flatMap((each) => (each === "*" ? [] : unknownTool(["permissions", index, "tool"], each, names.tools))),
  );
  return [
    ...(route === undefined || names.routes.includes(route) ? [] : [missing(["route"], "route", route, names.routes)]),
    ...tools.flatMap((each, index) => unknownTool(["tools", index], each, names.tools)),
    ...inRules,
  ];
}

function instructionFaults(text: string): ConfigFault[] {
  if (text === "") return [{ path: "", detail: "says nothing behind its front matter: what is the agent to do?" }];
  if (text.length <= instructionChars) return [];
  return [
    { path: "", detail: `has ${text.length} characters behind its front matter; at most ${instructionChars} are read` },
  ];
}

function failed(fault: ProfileFault): ProfileCheck {
  return { ok: false, faults: [fault] };
}
