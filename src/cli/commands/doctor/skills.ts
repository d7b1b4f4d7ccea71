import { ownCommand } from "../../../lib/process/own-command.ts";
import { listAll } from "../../../skills/list-skills.ts";
import { readSkillMapping } from "../../../skills/skill-mapping.ts";
import type { CommandContext } from "../../context.ts";
import { groupsWithFolder, listOptions } from "../skills/places.ts";
import { bad, type CheckResult, good } from "./check.ts";

/** Whether each skill can be used, and is what was installed. */
export async function checkSkills(context: CommandContext): Promise<CheckResult[]> {
  await readSkillMapping(context.paths.skillMapping);
  const found = await listAll(listOptions(context), groupsWithFolder(context));
  const faulty = found.filter(({ state }) => state !== "ok" && state !== "hidden");
  if (faulty.length === 0) return [good("skills", `${found.length} skills, all of them valid.`)];
  return faulty.map(({ name, source, reason = "it cannot be used" }) =>
    bad("skills", `${name} (${source}): ${reason}.`, ownCommand(`skills show ${name}`)),
  );
}
