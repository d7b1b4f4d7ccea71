import { checkProfiles, describeProfileFault } from "../../../../../config/profiles/profile-files.ts";
import type { CommandContext } from "../../../context.ts";
import { namesNow } from "../../agents/profiles.ts";
import type { CheckResult } from "../check.ts";
import { bad, good } from "../check.ts";

/** Whether each profile can be used. */
export async function checkAgentProfiles(context: CommandContext): Promise<CheckResult[]> {
  const checked = await checkProfiles(context.paths.agents, await namesNow(context));
  const faulty = checked.filter(({ faults }) => faults.length > 0);
  if (faulty.length === 0) return [good("profiles", `${checked.length} in ${context.paths.agents}, all valid.`)];
  return faulty.map(({ file, faults }) =>
    bad(
      "profiles",
      faults.map((fault) => describeProfileFault(file, fault)).join("; "),
      faults[0]?.fix ?? `Edit ${file}.`,
    ),
  );
}
