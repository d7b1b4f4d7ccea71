import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ImageBuilder } from "../../src/sandbox/engine/image-builder.ts";
import type { ContainerEngine } from "../../src/sandbox/engine/engine.ts";
import { AppError } from "../../src/lib/app-error.ts";

/** Context of the set-up steps that build images. */
export interface SetupContext {
  readonly engine: ContainerEngine;
  readonly builder: ImageBuilder;
  readonly checkoutFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The Dockerfile of the agent image and the values that set-up takes from it, so that each is written in one place. */
export interface Recipe {
  readonly text: string;
  readonly baseImage: string;
  readonly packages: readonly string[];
}

export async function readRecipe(checkoutFolder: string): Promise<Recipe> {
  const path = join(checkoutFolder, "Dockerfile.agent");
  const text = await readFile(path, "utf8");
  const argument = (name: string): string => {
    const value = new RegExp(`^ARG ${name}="?([^"\n]+)"?$`, "m").exec(text)?.[1];
    if (value === undefined) throw new AppError("setup_required", `${path} has no line ARG ${name}=….`);
    return value;
  };
  return { text, baseImage: argument("BASE_IMAGE"), packages: argument("PACKAGES").split(" ") };
}
