import { loadAttacks, runAttacks } from "../../../../../../redteam/suite/run.ts";
import type { CommandContext } from "../../../context.ts";
import type { CheckResult } from "../check.ts";
import { bad, good } from "../check.ts";
import { ownCommand } from "../../../../../lib/process/own-command.ts";

/** Runs the suite's quick attacks against a throwaway host with this installation's engine and image. */
export async function checkByAttacks({ environment }: CommandContext): Promise<CheckResult[]> {
  const attacks = (await loadAttacks()).filter(({ quick }) => quick === true);
  const { variables, userHome: homeFolder } = environment;
  const failures: CheckResult[] = [];
  let contained = 0;
  for await (const { id, title, verdict, faults, seen } of runAttacks({ variables, homeFolder, attacks })) {
    if (verdict === "contained") contained += 1;
    if (verdict !== "FAILED") continue;
    const fix = `Run no agents before this is resolved: ${ownCommand(`redteam --only ${id}`)}`;
    failures.push(bad("redteam", `${id} ${title}: ${faults.join("; ")}; seen: ${seen}`, fix));
  }
  return [good("redteam", `${contained} of ${attacks.length} attacks were contained.`), ...failures];
}
