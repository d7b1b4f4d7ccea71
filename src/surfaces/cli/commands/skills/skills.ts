import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import type { Command } from "commander";

import { skillFile, skillNameFault } from "../../../../domain/sandbox/skill.ts";
import { AppError } from "../../../../lib/app-error.ts";
import { visibleLines } from "../../../../lib/text/visible.ts";
import type { SkillHome, SkillPlan } from "../../../../abilities/skills/offline.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { skillHome } from "./skill-home.ts";
import { isConfirmed } from "../../confirm.ts";
import { describeSkillTool, showPlan, viewSkillTool } from "./show-plan.ts";

/** Skills are files, so none of it needs a running host; one that runs takes changes over between turns. */
export function addSkillCommands(skills: Command, context: CommandContext): void {
  addShow(skills, context);
  addInstall(skills, context);
  addRemove(skills, context);
  addCheck(skills, context);
  addUpdate(skills, context);
  addSync(skills, context);
  addNew(skills, context);
}

function addShow(skills: Command, context: CommandContext): void {
  addLeaf(skills, "show <name>", "show a skill and its files")
    .option("--group <group>", "among the skills of this group")
    .action(async (name: string, { group }: { group?: string }, command: Command) => {
      const found = await skillHome(context).find(name, group);
      const { source, state, sha256, facts, tools, tree, folder, locked, findings } = found;
      const files = tree?.files.map(({ path }) => path) ?? [];
      const output = context.outputOf(command);
      const { allowedTools, ...said } = facts ?? { allowedTools: [], description: "" };
      const brought = tools.map(viewSkillTool);
      const about = { source, state, folder, sha256, from: locked?.from, tools: brought, files, findings };
      const view = { name, ...said, allowedTools, ...about };
      output.facts(view, [
        ["name", name],
        ["description", said.description],
        ["source", source],
        ["state", [state, ...found.faults.map(({ detail }) => detail)].join(": ")],
        ["from", locked?.from],
        ["folder", folder],
        ["wants tools", allowedTools.join(", ")],
        ["files", files.join(", ")],
      ]);
      for (const tool of tools) output.line(describeSkillTool(tool).trim());
      for (const { kind, where, shows } of findings) output.line(`! ${kind} in ${where}: ${shows}`);
      const text = tree?.files.find(({ path }) => path === skillFile)?.bytes.toString("utf8");
      if (text !== undefined) output.line(`\n${visibleLines(text)}`);
    });
}

interface InstallFlags {
  readonly skill?: string;
  readonly yes?: boolean;
  readonly subscribe?: boolean;
}

function addInstall(skills: Command, context: CommandContext): void {
  addLeaf(skills, "install <source>", "folder, .tar.gz, npm package (npm:NAME) or git address")
    .option("--skill <name>", "install only this skill of several")
    .option("--subscribe", "check the source for new versions (default for git and npm)")
    .option("--no-subscribe", "do not check for new versions")
    .option("--yes", "without asking")
    .action(async (source: string, { skill, yes, subscribe }: InstallFlags, command: Command) => {
      const home = skillHome(context);
      const plan = await home.plan(source, skill);
      const output = context.outputOf(command);
      if (!output.json || yes !== true) showPlan(output, plan, "planned");
      if (!(await isConfirmed(context, output, yes === true))) return;
      await home.install(plan, subscribe);
      if (output.json) showPlan(output, plan, "installed");
      output.line(
        `Installed: ${namesOf(plan)}. Groups with \`skills: all\` have it; others need its name in \`skills\`.`,
      );
    });
}

function namesOf({ skills }: SkillPlan): string {
  return skills.map(({ name }) => name).join(", ");
}

function addRemove(skills: Command, context: CommandContext): void {
  addLeaf(skills, "remove <name>", "remove an installed skill, or one that a group's agent wrote")
    .option("--group <group>", "a skill of this group")
    .option("--yes", "without asking")
    .action(async (name: string, { group, yes }: { group?: string; yes?: boolean }, command: Command) => {
      const home = skillHome(context);
      const found = await home.find(name, group);
      home.requireRemovable(found);
      const output = context.outputOf(command);
      output.line(`The skill ${name} (${found.source}) will be removed with its files.`);
      if (!(await isConfirmed(context, output, yes === true))) return;
      await home.remove(found);
      if (output.json) output.object({ name, source: found.source, state: "removed" });
      output.line(`Removed: ${name}.`);
    });
}

function addCheck(skills: Command, context: CommandContext): void {
  addLeaf(skills, "check [path]", "check all skills, or a folder; exit 1 if one is invalid").action(
    async (path: string | undefined, _options: object, command: Command) => {
      const output = context.outputOf(command);
      if (path !== undefined) {
        const plan = await skillHome(context).plan(resolve(path));
        return showPlan(output, plan, "planned");
      }
      const found = await skillHome(context).list();
      for (const one of found) {
        const isGood = one.state === "ok" || one.state === "hidden";
        if (!isGood) context.exitCode = 1;
        if (output.json) output.object(one);
        output.line(`${one.name} (${one.source}): ${one.state}${one.reason === undefined ? "" : `: ${one.reason}`}`);
      }
      if (found.length === 0) output.line("There are no skills.");
    },
  );
}

function addUpdate(skills: Command, context: CommandContext): void {
  addLeaf(skills, "update [name]", "reinstall skills from their sources, all or one")
    .option("--yes", "without asking")
    .action(async (name: string | undefined, { yes }: { yes?: boolean }, command: Command) => {
      const output = context.outputOf(command);
      const plans = (await skillHome(context).compare(name)).flatMap(planOf);
      for (const plan of plans) showPlan(output, plan, yes === true ? "installed" : "planned");
      if (plans.length === 0) return output.line("All skills are up to date.");
      if (!(await isConfirmed(context, output, yes === true))) return;
      for (const plan of plans) await skillHome(context).install(plan);
    });
}

type ComparedSkill = Awaited<ReturnType<SkillHome["compare"]>>[number];

/** Plans to install; throws when unknown. */
function planOf(compared: ComparedSkill): SkillPlan[] {
  if (compared.state === "failed") throw compared.error;
  const { from, now } = compared;
  return now.replaces === "other" ? [{ from, skills: [now], unusable: [] }] : [];
}

function addSync(skills: Command, context: CommandContext): void {
  addLeaf(skills, "sync", "check sources for new versions without installing").action(
    async (_options: object, command: Command) => {
      const output = context.outputOf(command);
      for (const compared of await skillHome(context).compare()) {
        const { name, from, state } = compared;
        const reason = state === "failed" ? compared.error.message : undefined;
        const findings = state === "failed" ? undefined : compared.now.findings;
        if (state === "failed") context.exitCode = 1;
        if (output.json) output.object({ name, source: "installed", state, from, findings, reason });
        const hint = state === "outdated" ? `: \`crabpot skills update ${name}\` shows and installs it` : "";
        output.line(`${name}: ${state}${hint}${reason === undefined ? "" : `: ${reason}`}`);
      }
    },
  );
}

function addNew(skills: Command, context: CommandContext): void {
  addLeaf(skills, "new <name>", "create a folder with a SKILL.md template")
    .option("--in <folder>", "parent folder", ".")
    .action(async (name: string, { in: place }: { in: string }, command: Command) => {
      const fault = skillNameFault(name);
      if (fault !== undefined) throw new AppError("bad_input", `"${name}" is not a valid skill name: it ${fault}.`);
      const folder = join(resolve(place), name);
      if (existsSync(folder))
        throw new AppError("conflict", `${folder} already exists.`, { fix: "Choose another name." });
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, skillFile), beginning(name), { flag: "wx" });
      const output = context.outputOf(command);
      if (output.json) output.object({ name, state: "made", folder });
      output.line(`Created ${folder}/${skillFile}. Edit it, then run: crabpot skills install ${folder}`);
    });
}

function beginning(name: string): string {
  return `---
name: ${name}
description: What it does, and when it is to be used. This is all that an agent sees before it reads on.
---

# ${name}

1. What is done first.
2. What the result looks like.

Scripts go into \`scripts/\`; an agent runs them as \`/workspace/skills/${name}/scripts/…\`.
`;
}
