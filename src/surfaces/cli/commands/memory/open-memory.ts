import { existsSync, readdirSync } from "node:fs";

import { embedderPlace } from "../../../../config/memory.ts";
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
 * Where the memory of a group is, that of another agent of it (`group@agent`), or the global notes. Throws AppError
 * `bad_input` for what is no name of a group.
 */
export function pathOfMemory(context: CommandContext, group: string): string {
  const fault = group === globalNotes ? undefined : groupNameFault(groupOfFolder(group));
  if (fault !== undefined) throw new AppError("bad_input", `"${group}" ${fault}.`);
  return memoryPath(context.paths.memory, group);
}

/**
 * What the memory of this agent of the group is called. Only one that is there can be named: which agent has that of
 * the group itself is for the group's settings to say. Throws AppErrors.
 */
export function memoryName(context: CommandContext, group: string, agent: string | undefined): string {
  if (group.includes("@")) throw new AppError("bad_input", `"${group}" ${groupNameFault(group) ?? "is no group"}.`);
  if (agent === undefined) return group;
  const wanted = agentFolder(group, agent);
  const files = existsSync(context.paths.memory) ? readdirSync(context.paths.memory) : [];
  if (files.some((file) => memoryOfFile(file) === wanted)) return wanted;
  throw new AppError("not_found", `Group ${group} has no memory of an agent "${agent}" beside its first one.`, {
    fix: "leave out --agent for the memory of the first one; others have one from when they remember something",
  });
}

/**
 * Calls `use` with the memory of a group, also while a host runs; it is made if it is not there yet. Vectors are made
 * as the configuration says, of which nothing else has to be valid.
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
  return openEmbedder(embedderPlace(config, adapters, modelFolder(context.paths.root)));
}
