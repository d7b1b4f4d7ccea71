import { toError } from "../../lib/app-error.ts";
import { ToolError } from "../../protocol/tools.ts";
import type { MemoryPort } from "../../tools/memory/memory-port.ts";
import type { MemoryAt } from "../../abilities/memory/thread/memory-client.ts";
import type { TurnScope } from "../../turns/turn-scope.ts";
import type { AppContext } from "../context.ts";
import type { Memories, MemoriesOptions } from "./memory.ts";

/** Memories, loaded on first use. */
export interface LazyMemories extends Pick<Memories, "recall" | "port" | "foresee" | "resume" | "extract"> {
  /** Memory of this group or agent's folder; undefined when disabled. */
  readonly memoryOf: (folder: string) => Promise<MemoryAt | undefined>;
  /** Existing memory, even if disabled now; undefined: none. */
  readonly existing: (folder: string) => Promise<MemoryAt | undefined>;
}

/** Memories of groups; loads nothing until `memory.enabled` is set, which may happen while the host runs. */
export function createMemoriesWhenEnabled(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: MemoriesOptions,
): LazyMemories {
  const { live, logger } = context;
  const owned = stack.use(new AsyncDisposableStack());
  let loading: Promise<Memories | undefined> | undefined;
  const load = async (): Promise<Memories | undefined> => {
    try {
      const { createMemories } = await import("./memory.ts");
      return owned.disposed ? undefined : createMemories(context, owned, options);
    } catch (error) {
      logger.error({ err: toError(error) }, "groups remember nothing: what does it could not be loaded");
      return undefined;
    }
  };
  const loaded = async (): Promise<Memories | undefined> => (loading ??= load());
  const whenEnabled = async (): Promise<Memories | undefined> => (live.current.memory.enabled ? loaded() : undefined);
  /** Catches up; an existing memory follows changes itself. */
  const resume = (): void => {
    if (loading === undefined) void whenEnabled().then((memories) => memories?.resume());
  };
  live.onChange(resume);
  return {
    recall: async (place, messages, at) => (await whenEnabled())?.recall(place, messages, at),
    foresee: (group, text) => {
      if (live.current.memory.enabled) void whenEnabled().then((memories) => memories?.foresee(group, text));
    },
    memoryOf: async (group) => (await whenEnabled())?.memoryOf(group),
    existing: async (group) => (await loaded())?.existing(group),
    port: (scope) => (live.current.memory.enabled ? portOf(whenEnabled, scope) : undefined),
    extract: async (group, signal) => (await whenEnabled())?.extract(group, signal),
    resume,
  };
}

function portOf(whenEnabled: () => Promise<Memories | undefined>, scope: TurnScope): MemoryPort {
  const port = async (): Promise<MemoryPort> => {
    const opened = (await whenEnabled())?.port(scope);
    if (!opened) throw new ToolError("This group remembers nothing.");
    return opened;
  };
  return {
    search: async (query, how) => (await port()).search(query, how),
    store: async (memory) => (await port()).store(memory),
    forget: async (id) => (await port()).forget(id),
  };
}
