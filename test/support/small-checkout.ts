import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ensureAgentImage } from "../../scripts/steps/agent-image.ts";
import { type AgentImage, readAgentImage } from "../../src/sandbox/images/agent-image.ts";
import { openImageBuilder } from "../../src/sandbox/engine/catalog.ts";
import type { ContainerEngine } from "../../src/sandbox/engine/engine.ts";
import { engineWithAgentImage, surroundings } from "./engine.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Part of each image, so that none is that of another run of the tests, which may be under way or was killed. */
const run = randomUUID();

export interface SmallCheckout extends AsyncDisposable {
  readonly engine: ContainerEngine;
  readonly folder: string;
  /**
   * Builds the image with that text in the agent's program, in an environment with these variables, and gives what
   * set-up says and writes down.
   */
  build(program: string, env?: Readonly<Record<string, string>>): Promise<AgentImage & { words: string }>;
}

/**
 * A folder with no more than the agent image is made from, on top of the real agent image. Its images go at the end.
 */
export async function smallCheckout(): Promise<SmallCheckout> {
  const { engine, image: baseId } = await engineWithAgentImage();
  const builder = await openImageBuilder(surroundings);
  const folder = await temporaryFolder();
  await mkdir(join(folder.path, "container", "agent"), { recursive: true });
  await mkdir(join(folder.path, "container", "image"));
  for (const program of ["agent/browser/driver.ts", "reader/main.ts", "plugin/main.ts"]) {
    const path = join(folder.path, "container", program);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, "console.log();\n");
  }
  const recipe = ["ARG BASE_IMAGE=none", "FROM ${BASE_IMAGE}", 'ARG PACKAGES="bash"', "COPY agent.cjs image/ /opt/"];
  await writeFile(join(folder.path, "Dockerfile.agent"), `${recipe.join("\n")}\nLABEL packages="\${PACKAGES}"\n`);
  await writeFile(join(folder.path, "container", "image", "note.txt"), "a file of the image");
  await writeFile(join(folder.path, "container", "image", "run.txt"), run);
  const built = new Set<string>();
  return {
    engine,
    folder: folder.path,
    build: async (program, env = {}) => {
      await writeFile(join(folder.path, "container", "agent", "main.ts"), `console.log(${JSON.stringify(program)});\n`);
      const words = await ensureAgentImage({ engine, builder, checkoutFolder: folder.path, env }, baseId);
      const record = await readAgentImage(folder.path);
      built.add(record.id);
      return { ...record, words };
    },
    [Symbol.asyncDispose]: async () => {
      const images = await builder.list("crabpot.inputs");
      for (const { tags } of images.filter(({ id }) => built.has(id))) {
        for (const tag of tags) await builder.remove(tag);
      }
      await folder[Symbol.asyncDispose]();
    },
  };
}
