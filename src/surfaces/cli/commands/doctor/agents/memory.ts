import type { CommandContext } from "../../../context.ts";
import { memoryHome } from "../../memory/memory-home.ts";
import type { CheckResult } from "../check.ts";

/** By what memories are found, and whether their files are sound. */
export async function checkMemoryFiles(context: CommandContext): Promise<readonly CheckResult[]> {
  const { config } = await context.loadConfig();
  const findings = await memoryHome(context).check(config.memory);
  return findings.map((finding) => ({ check: "memory", ...finding }));
}
