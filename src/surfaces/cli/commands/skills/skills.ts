import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import type { Command } from "commander";

import { resolveGroup } from "../../../../config/resolve-group.ts";
import { skillFile, skillNameFault } from "../../../../domain/sandbox/skill.ts";
import { AppError } from "../../../../lib/app-error.ts";
import { nearest } from "../../../../lib/text/nearest.ts";
import { visibleLines } from "../../../../lib/text/visible.ts";
import type { ComparedSkill, InstallPlan } from "../../../../abilities/skills/install/installer.ts";
import { scanSkill } from "../../../../abilities/skills/install/scan-skill.ts";
import { listAll, listForGroup, type ListedSkill } from "../../../../abilities/skills/list-skills.ts";
import { readSkillLock } from "../../../../abilities/skills/lock-file.ts";
import { findFor, type FoundSkill } from "../../../../abilities/skills/places.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import type { Column } from "../../../../operations/definition/cli-leaf.ts";
import { groupsWithFolder, installerOf, placesOf } from "./places.ts";
import { isConfirmed } from "../../confirm.ts";
import { describeSkillTool, showPlan, viewSkillTool } from "./show-plan.ts";

/** Skills are files, so none of it needs a running host; one that runs takes changes over between turns. */
export function addSkillsCommand(program: Command, context: CommandContext): void {
  const skills = program.command("skills").description("list, install, check or write skills");
  addList(skills, context);
  addShow(skills, context);
  addInstall(skills, context);
  addRemove(skills, context);
  addCheck(skills, context);
  addUpdate(skills, context);
  addSync(skills, context);
  addNew(skills, context);
}

const columns: readonly Column<ListedSkill>[] = [
  { title: "name", of: ({ name }) => name },
  { title: "source", of: ({ source, group }) => (group === undefined ? source : `${source} ${group}`) },
  { title: "state", of: ({ state, reason }) => (reason === undefined ? state : `${state}: ${reason}`) },
  { title: "description", of: ({ description }) => description, fills: true },
];

function addList(skills: Command, context: CommandContext): void {
  addLeaf(skills, "list", "list skills")
    .option("--group <group>", "skills of this group")
    .action(async ({ group }: { group?: string }, command: Command) => {
      const found =
        group === undefined
          ? await listAll(placesOf(context), groupsWithFolder(context))
          : await listForGroup(
              placesOf(context),
              group,
              resolveGroup(await configNow(context), { name: group }).skills,
            );
      context.outputOf(command).items(found, columns, "There are no skills.");
    });
}

async function configNow(context: CommandContext) {
  return (await context.loadConfig()).config;
}

function addShow(skills: Command, context: CommandContext): void {
  addLeaf(skills, "show <name>", "show a skill and its files")
    .option("--group <group>", "among the skills of this group")
    .action(async (name: string, { group }: { group?: string }, command: Command) => {
      const found = await findOne(context, name, group);
      const { source, state, sha256, facts, tools, tree, folder, locked } = found;
      const files = tree?.files.map(({ path }) => path) ?? [];
      const output = context.outputOf(command);
      const { allowedTools, ...said } = facts ?? { allowedTools: [], description: "" };
      const findings = tree ? scanSkill(tree) : [];
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

async function findOne(context: CommandContext, name: string, group: string | undefined): Promise<FoundSkill> {
  const all = await findFor(placesOf(context), group);
  const found = all.find((one) => one.name === name && one.state !== "hidden");
  if (found) return found;
  const near = nearest(
    name,
    all.map((one) => one.name),
  );
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  throw new AppError("not_found", `There is no skill ${JSON.stringify(name)}.${hint}`, { fix: "crabpot skills list" });
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
      const installer = installerOf(context);
      const plan = await installer.plan(source, skill);
      const output = context.outputOf(command);
      if (!output.json || yes !== true) showPlan(output, plan, "planned");
      if (!(await isConfirmed(context, output, yes === true))) return;
      await installer.install(plan, subscribe);
      if (output.json) showPlan(output, plan, "installed");
      output.line(
        `Installed: ${namesOf(plan)}. Groups with \`skills: all\` have it; others need its name in \`skills\`.`,
      );
    });
}

function namesOf({ skills }: InstallPlan): string {
  return skills.map(({ name }) => name).join(", ");
}

function addRemove(skills: Command, context: CommandContext): void {
  addLeaf(skills, "remove <name>", "remove an installed skill, or one that a group's agent wrote")
    .option("--group <group>", "a skill of this group")
    .option("--yes", "without asking")
    .action(async (name: string, { group, yes }: { group?: string; yes?: boolean }, command: Command) => {
      const found = await findOne(context, name, group);
      const output = context.outputOf(command);
      if (found.source === "bundled" || (found.source === "group" && !found.byAgent))
        throw new AppError("bad_input", `The skill "${name}" was not installed: it is in ${found.folder}.`, {
          fix: found.source === "bundled" ? "Remove it from `skills` in config.yaml." : `Remove ${found.folder}.`,
        });
      output.line(`The skill ${name} (${found.source}) will be removed with its files.`);
      if (!(await isConfirmed(context, output, yes === true))) return;
      if (found.byAgent) await rm(found.folder);
      else await installerOf(context).remove(name);
      if (output.json) output.object({ name, source: found.source, state: "removed" });
      output.line(`Removed: ${name}.`);
    });
}

function addCheck(skills: Command, context: CommandContext): void {
  addLeaf(skills, "check [path]", "check all skills, or a folder; exit 1 if one is invalid").action(
    async (path: string | undefined, _options: object, command: Command) => {
      const output = context.outputOf(command);
      if (path !== undefined) {
        const plan = await installerOf(context).plan(resolve(path));
        return showPlan(output, plan, "planned");
      }
      const found = await listAll(placesOf(context), groupsWithFolder(context));
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

/** Installed skills beside what their sources have now. */
async function compareWithSources(
  context: CommandContext,
  only: string | undefined,
): Promise<readonly ComparedSkill[]> {
  const { skills } = await readSkillLock(placesOf(context).lock);
  const installed = Object.entries(skills).map(([name, { from, sha256 }]) => ({ name, from, sha256 }));
  const wanted = installed.filter(({ name }) => only === undefined || name === only);
  if (only !== undefined && wanted.length === 0)
    throw new AppError("not_found", `There is no installed skill "${only}".`, { fix: "crabpot skills list" });
  return installerOf(context).compare(wanted);
}

function addUpdate(skills: Command, context: CommandContext): void {
  addLeaf(skills, "update [name]", "reinstall skills from their sources, all or one")
    .option("--yes", "without asking")
    .action(async (name: string | undefined, { yes }: { yes?: boolean }, command: Command) => {
      const output = context.outputOf(command);
      const plans = (await compareWithSources(context, name)).flatMap(planOf);
      for (const plan of plans) showPlan(output, plan, yes === true ? "installed" : "planned");
      if (plans.length === 0) return output.line("All skills are up to date.");
      if (!(await isConfirmed(context, output, yes === true))) return;
      for (const plan of plans) await installerOf(context).install(plan);
    });
}

/** Plans to install; throws when unknown. */
function planOf(compared: ComparedSkill): InstallPlan[] {
  if (compared.state === "failed") throw compared.error;
  const { from, now } = compared;
  return now.replaces === "other" ? [{ from, skills: [now], unusable: [] }] : [];
}

function addSync(skills: Command, context: CommandContext): void {
  addLeaf(skills, "sync", "check sources for new versions without installing").action(
    async (_options: object, command: Command) => {
      const output = context.outputOf(command);
      for (const compared of await compareWithSources(context, undefined)) {
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
