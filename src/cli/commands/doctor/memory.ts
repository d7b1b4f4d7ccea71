import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { loadConfig } from "../../../config/loading/load.ts";
import { toError } from "../../../lib/app-error.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import { isModelInstalled, LocalEmbedder } from "../../../memory/embedding/local-embedder.ts";
import { modelFolder } from "../../../memory/embedding/model-files.ts";
import { faultOfFile } from "../../../memory/file/repair.ts";
import { memoryOptions } from "../../../memory/memory-options.ts";
import type { CommandContext } from "../../context.ts";
import { bad, type CheckResult, good, warning } from "./check.ts";

/** By what memories are found, and whether their files are sound. */
export async function checkMemory(context: CommandContext): Promise<readonly CheckResult[]> {
  const { config } = await loadConfig(context.paths.config, context.environment.variables);
  const { embeddings, enabled } = config.memory;
  const files = await checkFiles(context.paths.memory);
  if (embeddings === "none")
    return [good("memory", "Memories are found by their words (memory.embeddings: none)."), ...files];
  if (embeddings === "local") return [await checkModel(modelFolder(context.paths.root), enabled), ...files];
  return [good("memory", `${embeddings.provider} embeds memories with ${embeddings.model}.`), ...files];
}

/** One that is there has to show that it works: its files may be damaged, or of another version. */
async function checkModel(folder: string, isUsed: boolean): Promise<CheckResult> {
  const install = ownCommand("memory install-model");
  if (!(await isModelInstalled(folder))) {
    const detail = "Memories are found by their words only: the local model is not installed.";
    return isUsed ? warning("memory", detail, install) : good("memory", detail);
  }
  await using embedder = new LocalEmbedder(folder);
  try {
    await embedder.embed(["hello"]);
    return good("memory", "Memories are found by words and by meaning: the local model is installed.");
  } catch (error) {
    return warning("memory", `Memories are found by their words only: ${toError(error).message}`, install);
  }
}

/** Only what is wrong with them: there may be many. */
async function checkFiles(folder: string): Promise<CheckResult[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith(".sqlite"))
    .flatMap((name) => {
      const fault = faultOfFile(join(folder, name));
      if (fault === undefined) return [];
      const group = name.slice(0, -".sqlite".length);
      const fix = `Stop the host, then ${ownCommand(`memory reindex ${memoryOptions(group)}`)}`;
      return [bad("memory", `The memory of ${group} is damaged, and its turns go on without it: ${fault}.`, fix)];
    });
}
