import { existsSync, readdirSync } from "node:fs";

import { embedderSource } from "../../../../config/configured/memory.ts";
import type { LoadedConfig } from "../../../../config/loading/load.ts";
import { agentFolder, groupNameFault, groupOfFolder } from "../../../../domain/chats/group.ts";
import { AppError } from "../../../../lib/app-error.ts";
import type { Embedder } from "../../../../abilities/memory/embedding/embedder.ts";
import { modelFolder } from "../../../../abilities/memory/embedding/model-files.ts";
import { openEmbedder } from "../../../../abilities/memory/embedding/open-embedder.ts";
import { globalNotes } from "../../../../abilities/memory/item.ts";
import { GroupMemory } from "../../../../abilities/memory/group-memory.ts";
import { memoryOfFile, memoryPath } from "../../../../abilities/memory/memory-path.ts";
import type { CommandContext } from "../../context.ts";

/**
 * Path of a group's memory, of another agent's (`group@agent`), or of global notes. Throws AppError `bad_input` for an
 * invalid name.
 */
export function pathOfMemory(context: CommandContext, group: string): string {
  const fault = group === globalNotes ? undefined : groupNameFault(groupOfFolder(group));
  if (fault !== undefined) throw new AppError("bad_input", `"${group}" ${fault}.`);
  return memoryPath(context.paths.memory, group);
}

/**
 * Name of an agent's memory, which must exist: the group's settings tell which agent uses the group's own. Throws
 * AppErrors.
 */
export function memoryName(context: CommandContext, group: string, agent: string | undefined): string {
  if (group.includes("@")) throw new AppError("bad_input", `"${group}" ${groupNameFault(group) ?? "is no group"}.`);
  if (agent === undefined) return group;
  const wanted = agentFolder(group, agent);
  const files = existsSync(context.paths.memory) ? readdirSync(context.paths.memory) : [];
  if (files.some((file) => memoryOfFile(file) === wanted)) return wanted;
  throw new AppError("not_found", `Group ${group} has no memory of an agent "${agent}" beside its first one.`, {
    fix: "leave out --agent for the first agent's memory; others have one once they remember something",
  });
}

/**
 * Calls `use` with a group's memory, creating it if missing, even while a host runs. Uses the configured embedder; the
 * rest of the configuration may be invalid.
 */
export async function withMemory<T>(
  context: CommandContext,
  group: string,
  use: (memory: GroupMemory) => Promise<T>,
): Promise<T> {
  const path = pathOfMemory(context, group);
  const sections = ["memory", "models"] as const;
  const loaded = await context.loadPartOfConfig(sections);
  await using owned = new AsyncDisposableStack();
  const embedder = await embedderOf(context, loaded);
  if (embedder !== undefined) owned.use(embedder);
  const memory = owned.use(new GroupMemory({ path, weights: loaded.config.memory.weights, embedder }));
  return await use(memory);
}

/** The same for looking: a group that remembers nothing stays without a file, and `use` is not called. */
export async function withExistingMemory<T>(
  context: CommandContext,
  group: string,
  use: (memory: GroupMemory) => Promise<T>,
): Promise<T | undefined> {
  return existsSync(pathOfMemory(context, group)) ? withMemory(context, group, use) : undefined;
}

function embedderOf(context: CommandContext, { config, adapters }: LoadedConfig): Promise<Embedder | undefined> {
  return openEmbedder(embedderSource(config, adapters, modelFolder(context.paths.root)));
}
