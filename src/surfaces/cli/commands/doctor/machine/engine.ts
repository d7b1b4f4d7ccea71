import { configuredGroups } from "../../../../../config/configured/groups.ts";
import { findAgentImage } from "../../../../../sandbox/images/agent-image.ts";
import { openEngine } from "../../../../../sandbox/engine/catalog.ts";
import type { EngineFacts } from "../../../../../sandbox/engine/engine.ts";
import { judgeEngine, judgeRuntime } from "../../../../../sandbox/engine/versions.ts";
import { AppError } from "../../../../../lib/app-error.ts";
import type { CommandContext } from "../../../context.ts";
import type { CheckResult } from "../check.ts";
import { bad, good } from "../check.ts";
import { checkReview } from "./review.ts";
import { checkSandbox } from "./sandbox.ts";
import { isReviewed } from "../../../../../domain/chats/group.ts";

const engineTimeoutMs = 10_000;

/** The engine, its versions, the agent's image, and a real container made the way the host makes them. */
export async function checkEngine(context: CommandContext): Promise<CheckResult[]> {
  const { environment, paths } = context;
  await using engine = await openEngine({ env: environment.variables, homeFolder: environment.userHome });
  const facts = await engine.facts(AbortSignal.timeout(engineTimeoutMs));
  const results = [good("engine", `${facts.kind} ${facts.version} at ${facts.address}`)];
  results.push(...checkVersions(facts));
  const read = await context.checkConfig();
  if (!read.ok) return results;
  const { config } = read.loaded;
  const [missing] = judgeRuntime(facts, config.sandbox.runtime);
  if (missing !== undefined) return [...results, bad("runtime", missing.detail, missing.fix)];
  try {
    const image = await findAgentImage(engine, environment.checkout);
    results.push(good("agent-image", `${image.tag} exists.`));
    const options = { engine, imageId: image.id, sandbox: config.sandbox, paths };
    const isReviewWanted = configuredGroups(config).some(({ mounts }) => mounts.some(isReviewed));
    return [...results, await checkSandbox(options), await checkReview(options, isReviewWanted)];
  } catch (error) {
    if (!(error instanceof AppError && error.code === "image_missing")) throw error;
    return [...results, bad("agent-image", error.message, error.fix)];
  }
}

/** Known faults of the engine; one that prevents agents from running is a failure. */
export function checkVersions(facts: EngineFacts): CheckResult[] {
  const levels = { ok: "ok", warn: "warning", refuse: "failure" } as const;
  return judgeEngine(facts).map(({ level, detail, fix }) => ({
    check: "engine-version",
    level: levels[level],
    detail,
    fix: fix || undefined,
  }));
}
