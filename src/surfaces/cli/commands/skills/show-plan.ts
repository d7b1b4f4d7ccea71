import { formatBytes } from "../../../../lib/text/bytes.ts";
import type { SkillTool } from "../../../../domain/rights/skill-tool.ts";
import { visible } from "../../../../lib/text/visible.ts";
import type { SkillInPlan, SkillPlan } from "../../../../abilities/skills/offline.ts";
import type { Output } from "../../output.ts";

const replaced = {
  nothing: "is new",
  same: "is already installed and unchanged",
  other: "replaces the installed one",
} as const;

/** Shows what would be installed: what it is, what it asks for, and what looks odd in it. */
export function showPlan(output: Output, { from, skills, unusable }: SkillPlan, state: "planned" | "installed"): void {
  for (const skill of skills) {
    if (output.json) output.object({ ...view(skill), state, from });
    else for (const line of describe(skill)) output.line(line);
  }
  for (const { name, reason } of unusable) {
    if (output.json) output.object({ name, state: "refused", reason, from });
    else output.line(`${visible(name)} is skipped, because it is not usable: ${visible(reason)}`);
  }
}

function view({ name, facts, tools, sha256, wants, findings, replaces, hidesBundled, tree }: SkillInPlan) {
  const { description, license, compatibility, unknownKeys } = facts;
  const files = tree.files.map(({ path }) => path);
  return {
    name,
    description,
    source: "installed",
    license,
    compatibility,
    sha256,
    files,
    tools: tools.map(viewSkillTool),
    wants,
    findings,
    replaces,
    hidesBundled,
    ...(unknownKeys.length > 0 && { unknownKeys: unknownKeys.map(visible) }),
  };
}

function describe(skill: SkillInPlan): string[] {
  const { name, facts, tools, tree, wants, findings, replaces, hidesBundled } = skill;
  const bytes = tree.files.reduce((sum, file) => sum + file.bytes.length, 0);
  const programs = tree.files.filter(({ isExecutable }) => isExecutable).map(({ path }) => path);
  return [
    `${name} ${replaced[replaces]} (files: ${tree.files.length}, ${formatBytes(bytes)})`,
    `  ${visible(facts.description)}`,
    ...(facts.compatibility === undefined ? [] : [`  needs: ${visible(facts.compatibility)}`]),
    ...(hidesBundled ? ["  replaces the bundled skill of this name"] : []),
    ...tools.map(describeSkillTool),
    ...wanted("uses tools (subject to the policy)", wants.tools),
    ...wanted("names hosts (subject to the group's network)", wants.hosts),
    ...wanted("wants packages", wants.packages),
    ...wanted("programs", programs),
    ...wanted("has keys without meaning here", facts.unknownKeys.map(visible)),
    ...findings.map(({ kind, where, shows }) => `  ! ${kind} in ${where}: ${shows}`),
  ];
}

/** A tool that a skill brings, as `--json` shows it. */
export function viewSkillTool({ name, kind, command, risk, args }: SkillTool) {
  return { name, kind, command, risk, args: args.map((argument) => argument.name) };
}

/** `  brings the tool tea__boil (shell, risk medium or more): boil {{minutes}}` */
export function describeSkillTool({ name, kind, command, risk }: SkillTool): string {
  return `  brings the tool ${name} (${kind}, risk ${risk}${risk === "high" ? "" : " or more"}): ${visible(command)}`;
}

function wanted(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`  ${what}: ${names.join(", ")}`];
}
