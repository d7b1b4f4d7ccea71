import { ownCommand } from "../../../../../lib/process/own-command.ts";
import type { SkillInList } from "../../../../../abilities/skills/offline.ts";
import type { CommandContext } from "../../../context.ts";
import { skillHome } from "../../skills/skill-home.ts";
import { bad, type CheckResult, good, warning } from "../check.ts";

/** Whether each skill can be used, and is what was installed. */
export async function checkSkills(context: CommandContext): Promise<CheckResult[]> {
  const home = skillHome(context);
  await home.checkMapping();
  const found = await home.list();
  const faulty = found.filter(({ state }) => state !== "ok" && state !== "hidden");
  const failures = faulty.map(({ name, source, reason = "it is not usable" }) =>
    bad("skills", `${name} (${source}): ${reason}.`, ownCommand(`skills show ${name}`)),
  );
  const strangers = await checkNames(context, found);
  if (failures.length + strangers.length > 0) return [...failures, ...strangers];
  return [good("skills", `${found.length} skills, all valid.`)];
}

/** Names in the configuration that stand for no skill: the host says so only when a group's turn begins. */
async function checkNames(context: CommandContext, found: readonly SkillInList[]): Promise<CheckResult[]> {
  const { config } = await context.loadConfig();
  const choices = [
    { path: "skills", group: undefined, choice: config.skills },
    ...Object.entries(config.groups).map(([group, { skills }]) => ({
      path: `groups.${group}.skills`,
      group,
      choice: skills,
    })),
  ];
  return choices.flatMap(({ path, group, choice }) => {
    if (!Array.isArray(choice)) return [];
    // What is for all groups may be a skill of some group's own.
    const known = found.filter((one) => group === undefined || one.group === undefined || one.group === group);
    return choice
      .filter((name) => known.every((one) => one.name !== name))
      .map((name) => warning("skills", `${path}: there is no skill "${name}".`, ownCommand("skills list")));
  });
}
