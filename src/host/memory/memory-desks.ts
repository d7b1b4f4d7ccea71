import type { MemoryServices } from "../../surfaces/chat/command.ts";
import { ShownLists } from "../../surfaces/chat/shown-lists.ts";
import { memberActor } from "../../domain/people/actor.ts";
import { agentNamedBy, groupOfFolder } from "../../domain/chats/group.ts";
import { AppError } from "../../lib/app-error.ts";
import type { MemoryAt } from "../../abilities/memory/thread/memory-client.ts";
import type { MemoryOperations } from "../../abilities/memory/operations.ts";
import type { AppContext } from "../context.ts";
import type { LazyMemories } from "./memory-when-enabled.ts";

/** Memory actions from a chat. */
export function memoryServices(
  { config, publish }: Pick<AppContext, "config" | "publish">,
  { memoryOf }: Pick<LazyMemories, "memoryOf">,
): MemoryServices {
  const of = async (folder: string): Promise<MemoryAt> => {
    const memory = await memoryOf(folder);
    if (!memory) throw new AppError("conflict", "Groups remember nothing: memory.enabled is not set.");
    return memory;
  };
  return {
    isEnabled: () => config.memory.enabled,
    newest: async (folder, limit) => (await of(folder)).list({ except: "conversation", isCurrent: true, limit }),
    get: async (folder, id) => (await of(folder)).get(id),
    forget: async ({ group: { name: group }, pending: { message } }, { id, folder = group }) => {
      const memory = await of(folder);
      const actor = memberActor(message.sender.id);
      const data = { ids: [id], why: "command", ...agentNamedBy(folder) };
      await publish({ type: "memory.forgotten", group, actor, data });
      await memory.forget([id]);
    },
    lists: new ShownLists(),
  };
}

/** Loaded when it is asked for: most groups remember nothing. */
const shown = () => import("../../abilities/memory/shown-memory.ts");

/** The same for programs. A group that remembers nothing stays without a file. */
export function createMemoryOperations(
  { publish }: Pick<AppContext, "publish">,
  { existing }: Pick<LazyMemories, "existing">,
): MemoryOperations {
  return {
    search: async (folder, query, limit) => {
      const found = (await (await existing(folder))?.search(query, { limit })) ?? [];
      const { toListed } = await shown();
      return found.map(({ memory, score }) => ({ ...toListed(memory), score }));
    },
    list: async (folder, filter) => {
      const found = (await (await existing(folder))?.list(filter)) ?? [];
      return found.map((await shown()).toListed);
    },
    show: async (folder, id) => {
      const found = await (await existing(folder))?.get(id);
      return found && (await shown()).toExported(found);
    },
    forget: async (folder, id, actor) => {
      const memory = await existing(folder);
      if (!(await memory?.get(id))) return false;
      const group = groupOfFolder(folder);
      const data = { ids: [id], why: "gateway", ...agentNamedBy(folder) };
      await publish({ type: "memory.forgotten", group, actor, data });
      return ((await memory?.forget([id])) ?? 0) > 0;
    },
  };
}
