import { loadConfig } from "../../../config/loading/load.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import { isModelInstalled } from "../../../memory/embedding/local-embedder.ts";
import { modelFolder } from "../../../memory/embedding/model-files.ts";
import type { CommandContext } from "../../context.ts";
import { type CheckResult, good, warning } from "./check.ts";

/** By what memories are found. */
export async function checkMemory(context: CommandContext): Promise<CheckResult> {
  const { config } = await loadConfig(context.paths.config, context.environment.variables);
  const { embeddings, enabled } = config.memory;
  if (embeddings === "none") return good("memory", "Memories are found by their words (memory.embeddings: none).");
  if (embeddings !== "local") return good("memory", `${embeddings.provider} embeds memories with ${embeddings.model}.`);
  if (await isModelInstalled(modelFolder(context.paths.root)))
    return good("memory", "Memories are found by words and by meaning: the local model is installed.");
  const detail = "Memories are found by their words only: the local model is not installed.";
  return enabled ? warning("memory", detail, ownCommand("memory install-model")) : good("memory", detail);
}
