import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { toError } from "../../../../../lib/app-error.ts";
import { ownCommand } from "../../../../../lib/process/own-command.ts";
import { isModelInstalled, LocalEmbedder } from "../../../../../abilities/memory/embedding/local-embedder.ts";
import { modelFolder } from "../../../../../abilities/memory/embedding/model-files.ts";
import { faultOfFile } from "../../../../../abilities/memory/file/repair.ts";
import { slowVectors } from "../../../../../abilities/memory/index/vectors/open-vectors.ts";
import type { CommandContext } from "../../../context.ts";
import { bad, type CheckResult, good, warning } from "../check.ts";
import { memoryOfFile, memoryOptions } from "../../../../../abilities/memory/memory-path.ts";

/** By what memories are found, and whether their files are sound. */
export async function checkMemoryFiles(context: CommandContext): Promise<readonly CheckResult[]> {
  const { config } = await context.loadConfig();
  const { embeddings, enabled } = config.memory;
  const files = await checkFiles(context.paths.memory);
  if (embeddings === "none")
    return [good("memory", "Memories are found by words (memory.embeddings: none)."), ...files];
  const vectors = checkVectors();
  if (embeddings === "local") return [await checkModel(modelFolder(context.paths.root), enabled), ...vectors, ...files];
  return [good("memory", `${embeddings.provider} embeds memories with ${embeddings.model}.`), ...vectors, ...files];
}

/** Only what is wrong: a search is right, and takes ten times as long. */
function checkVectors(): CheckResult[] {
  const slow = slowVectors();
  if (!slow) return [];
  const detail = `Comparing vectors of memories is slow in large groups (${slow.strategy}): ${slow.reason}`;
  return [warning("memory", detail, "use a processor and Node options that allow WebAssembly with SIMD")];
}

/** One that is there has to show that it works: its files may be damaged, or of another version. */
async function checkModel(folder: string, isUsed: boolean): Promise<CheckResult> {
  const install = ownCommand("memory install-model");
  if (!(await isModelInstalled(folder))) {
    const detail = "Memories are found by words only: the local model is not installed.";
    return isUsed ? warning("memory", detail, install) : good("memory", detail);
  }
  await using embedder = new LocalEmbedder(folder);
  try {
    await embedder.embed(["hello"]);
    return good("memory", "Memories are found by words and by meaning: the local model is installed.");
  } catch (error) {
    return warning("memory", `Memories are found by words only: ${toError(error).message}`, install);
  }
}

/** Only what is wrong with them: there may be many. */
async function checkFiles(folder: string): Promise<CheckResult[]> {
  const names = await readdir(folder).catch(() => []);
  return names.flatMap((name) => {
    const group = memoryOfFile(name);
    if (group === undefined) return [];
    const fault = faultOfFile(join(folder, name));
    if (fault === undefined) return [];
    const fix = `Stop the host, then ${ownCommand(`memory reindex ${memoryOptions(group)}`)}`;
    return [bad("memory", `The memory of ${group} is damaged, and its turns run without it: ${fault}.`, fix)];
  });
}
