import type { MemoryServices } from "../../commands/command.ts";
import { ShownLists } from "../../commands/shown-lists.ts";
import { memberActor } from "../../domain/actor.ts";
import { AppError } from "../../lib/app-error.ts";
import type { MemoryAt } from "../../memory/thread/memory-desk.ts";
import type { MemoryDesk } from "../../operations/memory-http.ts";
import type { AppContext } from "../context.ts";
import type { LazyMemories } from "./memory-when-enabled.ts";

/** What people do in a chat with what its group remembers. */
export function memoryServices(
  { config, publish }: Pick<AppContext, "config" | "publish">,
  { memoryOf }: Pick<LazyMemories, "memoryOf">,
): MemoryServices {
  const of = async (group: string): Promise<MemoryAt> => {
    const memory = await memoryOf(group);
    if (!memory) throw new AppError("conflict", "Groups remember nothing: memory.enabled is not set.");
    return memory;
  };
  return {
    isEnabled: () => config.memory.enabled,
    newest: async (group, limit) => (await of(group)).list({ except: "conversation", isCurrent: true, limit }),
    get: async (group, id) => (await of(group)).get(id),
    forget: async ({ group: { name: group }, pending: { message } }, id) => {
      const memory = await of(group);
      const actor = memberActor(message.sender.id);
      await publish({ type: "memory.forgotten", group, actor, data: { ids: [id], why: "command" } });
      await memory.forget([id]);
    },
    lists: new ShownLists(),
  };
}

/** Loaded when it is asked for: most groups remember nothing. */
const shown = () => import("../../memory/shown-memory.ts");

/** The same for programs. A group that remembers nothing stays without a file. */
export function createMemoryDesk(
  { publish }: Pick<AppContext, "publish">,
  { existing }: Pick<LazyMemories, "existing">,
): MemoryDesk {
  return {
    search: async (group, query, limit) => {
      const found = (await (await existing(group))?.search(query, { limit })) ?? [];
      const { toListed } = await shown();
      return found.map(({ memory, score }) => ({ ...toListed(memory), score }));
    },
    list: async (group, filter) => {
      const found = (await (await existing(group))?.list(filter)) ?? [];
      return found.map((await shown()).toListed);
    },
    show: async (group, id) => {
      const found = await (await existing(group))?.get(id);
      return found && (await shown()).toExported(found);
    },
    forget: async (group, id, actor) => {
      const memory = await existing(group);
      if (!(await memory?.get(id))) return false;
      await publish({ type: "memory.forgotten", group, actor, data: { ids: [id], why: "gateway" } });
      return ((await memory?.forget([id])) ?? 0) > 0;
    },
  };
}
