import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { AppError } from "../../lib/app-error.ts";
import type { ContainerEngine } from "../engine/engine.ts";

const agentImage = z.strictObject({
  /** `crabpot-agent:<first 16 hex digits of inputs>` */
  tag: z.string(),
  /** The engine's ID, `sha256:…`: what containers are created from, because a tag can be moved. */
  id: z.string(),
  /** SHA-256 over everything that the image is made from. */
  inputs: z.string(),
});

/** The image of the agent that belongs to a checkout. */
export type AgentImage = z.infer<typeof agentImage>;

const fix = "npm run setup";

/** Path of the file in which set-up records the checkout's agent image. */
export function agentImagePath(checkoutFolder: string): string {
  return join(checkoutFolder, "dist", "agent-image.json");
}

/** Reads the agent image recorded by set-up. Throws `image_missing` when set-up has not run in this checkout. */
export async function readAgentImage(checkoutFolder: string): Promise<AgentImage> {
  const path = agentImagePath(checkoutFolder);
  try {
    return agentImage.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (cause) {
    throw new AppError("image_missing", `The agent image has not been built: ${path} is missing or not usable.`, {
      cause,
      fix,
    });
  }
}

/** The agent image of the checkout, which the engine is known to have. Throws `image_missing` otherwise. */
export async function findAgentImage(
  engine: Pick<ContainerEngine, "image">,
  checkoutFolder: string,
): Promise<AgentImage> {
  const image = await readAgentImage(checkoutFolder);
  if (await engine.image(image.id)) return image;
  throw new AppError(
    "image_missing",
    `The container engine does not have the agent image ${image.tag} (${image.id}).`,
    {
      fix,
    },
  );
}
