import type { Logger } from "pino";

import type { Publish } from "../../domain/events/event.ts";
import { AppError } from "../../lib/app-error.ts";
import { findAgentImage } from "../images/agent-image.ts";
import type { EngineImage } from "../images/package-image.ts";
import type { ContainerEngine } from "./engine.ts";
import { judgeEngine, judgeRuntime } from "./versions.ts";

interface PrepareOptions {
  readonly runtime: () => Parameters<typeof judgeRuntime>[1];
  readonly checkout: string;
  readonly publish: Publish<"engine.judged">;
  readonly logger: Logger;
}

/** Returns the agent image of an engine that may be used. Throws `engine_refused` or `image_missing`. */
export async function prepareEngine(engine: ContainerEngine, options: PrepareOptions): Promise<EngineImage> {
  await refuseUnfitEngine(engine, options);
  const { id } = await findAgentImage(engine, options.checkout);
  const image = await engine.image(id);
  if (!image) throw new AppError("image_missing", `The agent's image ${id} is gone.`, { fix: "npm run setup" });
  return image;
}

async function refuseUnfitEngine(engine: ContainerEngine, { runtime, publish, logger }: PrepareOptions): Promise<void> {
  const facts = await engine.facts();
  const findings = [...judgeEngine(facts), ...judgeRuntime(facts, runtime())];
  const { kind, version, components, kernel } = facts;
  const data = { kind, version, components, kernel, findings: findings.map(({ detail }) => detail) };
  await publish({ type: "engine.judged", actor: "host", data });
  for (const { level, detail, fix } of findings) {
    if (level === "refuse") throw new AppError("engine_refused", detail, { fix });
    if (level === "warn") logger.debug({ fix }, detail);
  }
}
