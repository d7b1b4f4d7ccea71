import { checkPrompts } from "../../../../../config/prompts/prompt-files.ts";
import type { CommandContext } from "../../../context.ts";
import { bad, type CheckResult, good } from "../check.ts";

/** Whether the operator's own sections of the prompt can be used. Says nothing where there are none. */
export async function checkOwnPrompts({ environment, paths }: CommandContext): Promise<CheckResult[]> {
  const own = (await checkPrompts(environment.checkout, paths.prompts)).filter(({ source }) => source === "own");
  const faulty = own.filter(({ faults }) => faults.length > 0);
  if (own.length > 0 && faulty.length === 0) return [good("prompts", `${own.length} in ${paths.prompts}, all valid.`)];
  return faulty.map(({ file, faults }) =>
    bad(
      "prompts",
      `${file} ${faults.join("; ")}. It is not used.`,
      `Edit or remove ${file}; \`crabpot prompts list\` shows the sections.`,
    ),
  );
}
